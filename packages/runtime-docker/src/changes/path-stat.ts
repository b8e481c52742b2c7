import type { IncomingMessage } from 'node:http'
import type { OriginalFile } from '@sandyard/runtime/types'

/** The engine's header with what is at the path of an archive. */
const STAT_HEADER = 'x-docker-container-path-stat'

interface PathStat {
  readonly size: number
  /** Go's `FileMode`, not that of the kernel. */
  readonly mode: number
}

const MODE_DIRECTORY = 2 ** 31
const MODE_SYMLINK = 2 ** 27
/** Pipes, sockets, devices of both kinds, and what Go does not know. */
const SPECIAL_BITS = [2 ** 26, 2 ** 25, 2 ** 24, 2 ** 21, 2 ** 19]

/** @throws Error when the engine has sent none */
export function readStat({ headers }: Pick<IncomingMessage, 'headers'>): PathStat {
  const stat = JSON.parse(Buffer.from(String(headers[STAT_HEADER] ?? ''), 'base64').toString('utf8')) as Partial<PathStat>
  if (typeof stat.size !== 'number' || typeof stat.mode !== 'number') throw new Error('the engine has sent no stat of the path')
  return { size: stat.size, mode: stat.mode }
}

export function kindOfStat({ mode }: PathStat): Exclude<OriginalFile['kind'], 'absent' | 'large'> {
  const has = (bit: number): boolean => Math.floor(mode / bit) % 2 === 1
  if (has(MODE_DIRECTORY)) return 'directory'
  if (has(MODE_SYMLINK)) return 'symlink'
  return SPECIAL_BITS.some(has) ? 'special' : 'file'
}
