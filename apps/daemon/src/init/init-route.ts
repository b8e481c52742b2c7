import { Secret } from '@sandyard/kit/config/secret'
import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { ignoreMediaType } from '../http/ignore-media-type.ts'
import { DAEMON_VERSION } from '../version.ts'
import { authorizeInit } from './authorize-init.ts'
import type { DaemonState } from './daemon-state.ts'
import { type InitRequest, parseInitRequest } from './init-request.ts'
import { readBody } from './read-body.ts'

/**
 * `POST /init` (envd.md 5.5): the platform says who may come in and what processes start with. It asks again until it is answered, so
 * everything happens in one turn between the body and the answer: an abandoned request is applied whole or not at all.
 *
 * @param onInitialised called once, when the first request that was accepted has its answer
 */
export function registerInitRoute(app: FastifyInstance, { state, config }: DaemonContext, onInitialised: () => void): void {
  let latest = 0n
  app.post('/init', { onRequest: ignoreMediaType }, async (request, reply) => {
    reply.header('X-Envd-Version', DAEMON_VERSION)
    const body = await readBody(request.raw)
    const init = body === undefined ? undefined : parseInitRequest(body)
    if (init === undefined) return reply.code(400).send()

    const decision = authorizeInit(state, init.accessToken, config.platformHash)
    if (decision !== 'accept') return reply.code(401).type('text/plain; charset=utf-8').send(decision)
    if (init.unsupported.length > 0) {
      return reply
        .code(501)
        .type('text/plain; charset=utf-8')
        .send(`not supported by this daemon: ${init.unsupported.join(', ')}`)
    }
    const stale = init.timestamp !== undefined && init.timestamp < latest
    if (!stale) apply(init, state)
    if (init.timestamp !== undefined && !stale) latest = init.timestamp
    if (!state.initialised) reply.raw.once('finish', onInitialised)
    state.initialised = true
    return reply.code(204).header('Cache-Control', 'no-store').send()
  })
}

function apply(init: InitRequest, state: DaemonState): void {
  if (init.envVars !== undefined) state.userVariables = init.envVars
  state.accessToken = init.accessToken === undefined ? undefined : new Secret(init.accessToken)
  if (init.defaultUser) state.defaultUser = init.defaultUser
  if (init.defaultWorkdir) state.defaultWorkdir = init.defaultWorkdir
}
