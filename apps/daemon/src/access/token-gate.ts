import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../http/json-reply.ts'
import { firstHeader } from '../http/request-header.ts'
import type { DaemonState } from '../init/daemon-state.ts'

/** Routes without the gate: the first is public, the file routes also take signatures, `/init` has its token in the body (envd.md 3.2). */
const EXEMPT = new Set(['GET /health', 'GET /files', 'POST /files', 'POST /init'])
const BEFORE_INIT = new Set(['GET /health', 'POST /init'])

export interface TokenGateOptions {
  readonly state: DaemonState
  /** True where a platform sends `/init`: until then every call is refused, since it is not known whether there is a token. */
  readonly awaitInit: boolean
}

/**
 * Refuses requests without the access token, as plain HTTP on RPC paths too, never as a Connect envelope (envd.md 3.2).
 * Without a token everything is open.
 */
export function tokenGate({ state, awaitInit }: TokenGateOptions) {
  function findFault(request: FastifyRequest): string | undefined {
    const isOpen = state.accessToken === undefined || state.isAccessToken(firstHeader(request.raw, 'x-access-token'))
    const isAwaited = awaitInit && !state.initialised
    if (isOpen && !isAwaited) return undefined
    const route = `${request.method} ${request.routeOptions.url ?? ''}`
    if ((isAwaited ? BEFORE_INIT : EXEMPT).has(route)) return undefined
    if (isAwaited) return 'envd not initialized'
    return 'unauthorized access, please provide a valid access token or method signing if supported'
  }
  return (request: FastifyRequest, reply: FastifyReply, done: DoneFuncWithErrOrRes): void => {
    const fault = findFault(request)
    if (fault === undefined) done()
    else sendError(reply, 401, fault)
  }
}
