import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { statCached } from '../sys/cached-stat.ts'
import { pathArgument } from '../users/path-bytes.ts'

/** What a path leads to, links followed. @throws the system error of stat */
export async function statTarget(path: string): Promise<BigIntStats> {
  const argument = pathArgument(path)
  const cached = statCached(argument, { follow: true })
  if (cached instanceof Error) throw cached
  return cached ?? stat(argument, { bigint: true })
}
