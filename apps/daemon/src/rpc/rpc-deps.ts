import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DaemonLog } from '../loggers.ts'
import { type CallKind, listForms } from './media-type.ts'

export type RpcHandler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** What serving any call needs. */
export interface RpcDeps {
  readonly log: DaemonLog
  /** Ends every stream. */
  readonly shutdown: AbortSignal
  readonly config: { readonly requireConnectProtocolHeader: boolean }
}

/** Refuses a form that the kind of call does not have (envd.md 6.1). */
export function refuseForm(reply: FastifyReply, kind: CallKind): FastifyReply {
  return reply.code(415).header('Accept-Post', listForms(kind)).send()
}
