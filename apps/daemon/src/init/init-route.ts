import { loadOnce } from '@sandyard/kit/async/load-once'
import { Secret } from '@sandyard/kit/config/secret'
import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { ignoreMediaType } from '../http/request-header.ts'
import { DAEMON_VERSION } from '../version.ts'
import { authorizeInit } from './authorize-init.ts'
import type { DaemonState } from './daemon-state.ts'
import { type InitRequest, parseInitRequest } from './init-request.ts'
import { readBody } from './read-body.ts'
import type { InitFailure } from './system-settings.ts'

/**
 * `POST /init` (envd.md 5.5): the platform sets the access token and the variables of processes. It repeats the request until it has an answer,
 * so the state of the daemon changes in one turn after the body: an aborted request is applied whole or not at all. Changes outside of the
 * daemon follow, and where one fails the state of the daemon stays changed.
 *
 * @param onInitialised called once, after the answer to the first accepted request
 */
export function registerInitRoute(app: FastifyInstance, context: DaemonContext, onInitialised: () => void): void {
  const { state, config } = context
  const applyToSystem = lateSystemSettings(context)
  let latest = 0n
  app.post('/init', { onRequest: ignoreMediaType }, async (request, reply) => {
    reply.header('X-Envd-Version', DAEMON_VERSION)
    const body = await readBody(request.raw)
    const init = body === undefined ? undefined : parseInitRequest(body)
    if (init === undefined) return reply.code(400).send()

    const decision = authorizeInit(state, init.accessToken, config.platformHash)
    if (decision !== 'accept') return reply.code(401).type('text/plain; charset=utf-8').send(decision)
    const stale = init.timestamp !== undefined && init.timestamp < latest
    if (!stale) apply(init, state)
    if (init.timestamp !== undefined && !stale) latest = init.timestamp
    const failure = stale ? undefined : await applyToSystem(init)
    if (failure !== undefined) return reply.code(failure.status).type('text/plain; charset=utf-8').send(failure.message)
    if (!state.initialised) reply.raw.once('finish', onInitialised)
    state.initialised = true
    return reply.code(204).header('Cache-Control', 'no-store').send()
  })
}

/** Loaded by the first request that needs it: most platforms change nothing outside of the daemon. */
function lateSystemSettings({ state, config, log }: DaemonContext): (init: InitRequest) => Promise<InitFailure | undefined> {
  const loadSettings = loadOnce(async () => {
    const { SystemSettings } = await import('./system-settings.ts')
    return new SystemSettings({ root: config.systemRoot, state, log })
  })
  return async (init) => {
    if ([init.caBundle, init.hyperloopIp, init.volumeMounts].every((asked) => asked === undefined)) return undefined
    return (await loadSettings()).apply(init)
  }
}

function apply(init: InitRequest, state: DaemonState): void {
  if (init.envVars !== undefined) state.userVariables = init.envVars
  state.accessToken = init.accessToken === undefined ? undefined : new Secret(init.accessToken)
  if (init.defaultUser) state.defaultUser = init.defaultUser
  if (init.defaultWorkdir) state.defaultWorkdir = init.defaultWorkdir
}
