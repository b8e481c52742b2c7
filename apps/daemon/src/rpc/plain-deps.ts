import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DaemonLog } from '../loggers.ts'

export type RpcHandler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** What every call that is served without the library needs. */
export interface PlainDeps {
  readonly log: DaemonLog
  readonly shutdown: AbortSignal
}
