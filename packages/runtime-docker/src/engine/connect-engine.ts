import { Agent } from 'node:http'
import { inspect } from 'node:util'
import Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { boundCalls } from './bound-calls.ts'
import { CALL_DEADLINES, type CallDeadlines } from './call-deadlines.ts'
import { toAppError } from './docker-errors.ts'

export const DEFAULT_ADDRESS = 'unix:///var/run/docker.sock'

/** Engine 20.10. It has everything that this package needs. */
const API_VERSION = '1.41'
const PLAIN_TCP_PORT = 2375
/** The cap of connections to the engine. More calls wait, within their deadlines. */
const MAX_SOCKETS = 512

/**
 * Cheap to inspect: for a log that is off, dockerode's transport inspects the options of each call to every depth, with all connections of
 * the agent.
 */
class EngineAgent extends Agent {
  [inspect.custom](): string {
    return 'EngineAgent'
  }
}

/**
 * Connects to the engine at `address` (`unix:///path` or `tcp://host:port`, as in `DOCKER_HOST`) and waits for its answer. Newer engines
 * no longer support the oldest API versions; with such an engine its oldest supported version is used. Every call has a deadline.
 *
 * @throws AppError `invalid_argument` for an address of another form, `unavailable` when no engine answers, `failed_precondition`
 *   when the engine is older than 20.10
 */
export async function connectEngine(
  address: string = DEFAULT_ADDRESS,
  deadlines: Partial<CallDeadlines> = {},
  log?: Logger,
): Promise<Docker> {
  const agent = new EngineAgent({ keepAlive: true, scheduling: 'lifo', timeout: 5000, maxSockets: MAX_SOCKETS })
  const connection = { ...connectionOf(address), agent }
  const all = { ...CALL_DEADLINES, ...deadlines }
  const { ApiVersion: newest, MinAPIVersion: oldest } = await versionsOf(boundCalls(new Docker(connection), all))
  if (compareVersions(newest, API_VERSION) < 0) {
    throw new AppError('failed_precondition', 'This Docker engine is too old: version 20.10 or newer is needed.')
  }
  const version = `v${compareVersions(oldest, API_VERSION) > 0 ? oldest : API_VERSION}`
  return boundCalls(new Docker({ ...connection, version }), all, log)
}

/** Returns when the engine answers. @throws AppError `unavailable`; the abort reason */
export async function pingEngine(docker: Docker, signal: AbortSignal): Promise<void> {
  const ask = docker.ping.bind(docker) as (options: { abortSignal: AbortSignal }) => Promise<unknown>
  try {
    await ask({ abortSignal: signal })
  } catch (err) {
    signal.throwIfAborted()
    throw toAppError(err, 'The Docker engine did not answer.')
  }
}

export function connectionOf(address: string): Docker.DockerOptions {
  const socketPath = /^unix:\/\/(\/.+)$/.exec(address)?.[1]
  if (socketPath !== undefined) return { socketPath }
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !['tcp:', 'http:'].includes(url.protocol) || url.hostname === '') {
    throw new AppError('invalid_argument', `"${address}" is not an address of a Docker engine: use unix:///path or tcp://host:port.`)
  }
  return { protocol: 'http', host: url.hostname, port: url.port === '' ? PLAIN_TCP_PORT : Number(url.port) }
}

/** Without a version in the path: every engine answers this request. */
async function versionsOf(docker: Docker): Promise<{ ApiVersion: string; MinAPIVersion: string }> {
  try {
    return await docker.version()
  } catch (err) {
    throw toAppError(err, 'The Docker engine did not answer.')
  }
}

function compareVersions(left: string, right: string): number {
  const [leftMajor = 0, leftMinor = 0] = left.split('.').map(Number)
  const [rightMajor = 0, rightMinor = 0] = right.split('.').map(Number)
  return leftMajor - rightMajor || leftMinor - rightMinor
}
