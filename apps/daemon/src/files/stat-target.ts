import type { BigIntStats } from 'node:fs'
import { lookAt } from '../sys/cached-stat.ts'
import { pathArgument } from '../users/path-bytes.ts'

/** What a path leads to, links followed. @throws the system error of stat */
export function statTarget(path: string): Promise<BigIntStats> {
  return lookAt(pathArgument(path), { follow: true })
}
