import { DAEMON_PORT } from './inbound/host.ts'
import type { Inbound } from './inbound/parse-inbound.ts'

/** What a request is for: the start of a process, another call of the daemon, or a port of the sandbox's own programs. */
export type AnswerKind = 'process_start' | 'daemon' | 'port'

const START = /^\/process\.Process\/Start(?:\?|$)/

export function answerKind({ place, path }: Pick<Inbound, 'place' | 'path'>): AnswerKind {
  if (place.port !== DAEMON_PORT) return 'port'
  return START.test(path) ? 'process_start' : 'daemon'
}
