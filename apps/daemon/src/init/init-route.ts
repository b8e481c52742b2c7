import type { IncomingMessage } from 'node:http'
import { loadOnce } from '@sandyard/kit/async/load-once'
import { Secret } from '@sandyard/kit/config/secret'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { firstHeader, ignoreMediaType } from '../http/request-header.ts'
import { DAEMON_VERSION } from '../version.ts'
import { authorizeInit } from './authorize-init.ts'
import { isSameIdentity, type DaemonIdentity, type DaemonState } from './daemon-state.ts'
import { InitOrder } from './init-order.ts'
import { type InitRequest, parseInitRequest } from './init-request.ts'
import { INSTANCE_KEY_HEADER, isInstanceKey, readInstanceDigest } from './instance-key.ts'
import { readBody } from './read-body.ts'
import { writeIdentityFiles } from './run-files.ts'
import type { InitFailure } from './system-settings.ts'

/**
 * `POST /init` (envd.md 5.5): the platform sets the identity of the sandbox, the access token and the variables of processes. It repeats the
 * request until it has an answer, so the state of the daemon changes in one turn after the body: an aborted request is applied whole or not at
 * all. Changes outside of the daemon follow, and where one fails the state of the daemon stays changed.
 *
 * With a platform the request needs the key of the instance and an identity (docs/decisions/011-daemon-identity.md).
 *
 * @param onInitialised called once, after the answer to the first accepted request
 */
export function registerInitRoute(app: FastifyInstance, context: DaemonContext, onInitialised: () => void): void {
  const { state, config } = context
  const applyToSystem = lateSystemSettings(context)
  const order = new InitOrder()
  app.post('/init', { onRequest: ignoreMediaType }, async (request, reply) => {
    reply.header('X-Envd-Version', DAEMON_VERSION)
    const body = await readBody(request.raw)
    const init = body === undefined ? undefined : parseInitRequest(body)
    if (init === undefined) return reply.code(400).send()

    const { instance, isPlatform } = readCaller(request.raw, config.instanceFile)
    const decision = authorizeInit(state, init.accessToken, isPlatform)
    if (decision !== 'accept') return sendText(reply, 401, decision)
    if (isPlatform === true && init.identity === undefined) return sendText(reply, 400, 'identity is missing')
    const turn = order.turnOf(init, instance)
    if (turn === 'claimed') return sendText(reply, 409, 'another create has claimed this sandbox')
    const isNow = turn === 'now'
    if (isNow) apply(init, state)
    if (isNow && isPlatform === true) identify(init.identity, context)
    const failure = isNow ? await applyToSystem(init) : undefined
    if (failure !== undefined) return sendText(reply, failure.status, failure.message)
    if (!state.initialised) reply.raw.once('finish', onInitialised)
    state.initialised = true
    return reply.code(204).header('Cache-Control', 'no-store').send()
  })
}

interface InitCaller {
  /** The digest in the instance file. */
  readonly instance: string | undefined
  /** Whether the request has the key of the instance; undefined without a platform. */
  readonly isPlatform: boolean | undefined
}

function readCaller(request: IncomingMessage, instanceFile: string | undefined): InitCaller {
  if (instanceFile === undefined) return { instance: undefined, isPlatform: undefined }
  const instance = readInstanceDigest(instanceFile)
  return { instance, isPlatform: isInstanceKey(firstHeader(request, INSTANCE_KEY_HEADER), instance) }
}

function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/plain; charset=utf-8').send(text)
}

/** Loaded by the first request that needs it: most platforms change nothing outside of the daemon. */
function lateSystemSettings({ state, config, log }: DaemonContext): (init: InitRequest) => Promise<InitFailure | undefined> {
  const loadSettings = loadOnce(async () => {
    const { SystemSettings } = await import('./system-settings.ts')
    return new SystemSettings({ root: config.systemRoot, state, log })
  })
  return async (init) => {
    if ([init.caBundle, init.removeCaBundle, init.hyperloopIp, init.volumeMounts].every((asked) => asked === undefined)) return undefined
    return (await loadSettings()).apply(init)
  }
}

/** Running processes keep the variables that they were started with. */
function identify(identity: DaemonIdentity | undefined, { state, config, log }: DaemonContext): void {
  if (identity === undefined || isSameIdentity(identity, state.identity)) return
  state.identity = identity
  try {
    writeIdentityFiles(config, identity)
  } catch (err) {
    log.warn({ err }, 'the files with the ids of the sandbox could not be written')
  }
}

function apply(init: InitRequest, state: DaemonState): void {
  if (init.envVars !== undefined) state.userVariables = init.envVars
  state.accessToken = init.accessToken === undefined ? undefined : new Secret(init.accessToken)
  if (init.defaultUser) state.defaultUser = init.defaultUser
  if (init.defaultWorkdir) state.defaultWorkdir = init.defaultWorkdir
}
