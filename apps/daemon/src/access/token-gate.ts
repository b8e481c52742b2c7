import type { FastifyReply, FastifyRequest } from 'fastify'
import { firstHeader } from '../files/first-header.ts'
import { sendError } from '../http/error-reply.ts'
import type { DaemonState } from '../init/daemon-state.ts'

/** Routes without the gate: the first is public, the file routes also take signatures, `/init` has its token in the body (envd.md 3.2). */
const EXEMPT = new Set(['GET /health', 'GET /files', 'POST /files', 'POST /init'])
const BEFORE_INIT = new Set(['GET /health', 'POST /init'])

export interface TokenGateOptions {
  readonly state: DaemonState
  /** True where a platform sends `/init`: until then nothing may run, since nobody has said whether there is a token. */
  readonly awaitInit: boolean
}

/**
 * Refuses requests without the access token, as plain HTTP on RPC paths too, never as a Connect envelope (envd.md 3.2).
 * Without a token everything is open.
 */
export function tokenGate({ state, awaitInit }: TokenGateOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const route = `${request.method} ${request.routeOptions.url ?? ''}`
    if (awaitInit && !state.initialised) {
      return BEFORE_INIT.has(route) ? undefined : sendError(reply, 401, 'envd not initialized')
    }
    if (state.accessToken === undefined || EXEMPT.has(route)) return undefined
    if (state.isAccessToken(firstHeader(request.raw, 'x-access-token'))) return undefined
    return sendError(reply, 401, 'unauthorized access, please provide a valid access token or method signing if supported')
  }
}
