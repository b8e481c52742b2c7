import { request, type ClientRequest, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ProxyError } from '../answers/proxy-error.ts'
import type { LiveRoute } from '../routes/route.ts'
import type { Exchange } from './find-exchange.ts'
import { StaleRoute } from './follow-route.ts'
import { openTunnel } from './open-tunnel.ts'
import type { UpstreamAgents } from './upstream-agents.ts'

export interface UpstreamCall {
  readonly exchange: Exchange
  /** May use a connection that served another request before. */
  readonly reuse: boolean
}

export interface Upstreams {
  readonly agents: UpstreamAgents
  /** Whether the sandbox still runs as in the route. Rejects with a ProxyError `unavailable`. */
  readonly isCurrent: (route: LiveRoute) => Promise<boolean>
  /** The secret that the daemon of a sandbox requires for a tunnel. Rejects with a ProxyError `unavailable`. */
  readonly tunnelSecret: (sandboxId: string) => Promise<string>
}

/** Pauses between attempts to connect: a service that is just starting is reached within a second. */
const RETRY_PAUSES_MS = [100, 200, 300, 400]
const CONNECT_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 20_000
/** Larger than the head of any real answer; Node's default of 16 KiB is too small. */
const MAX_ANSWER_HEADERS_BYTES = 256 * 1024

/** Errors of this machine, not of the sandbox. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/**
 * Connects to a sandbox: to the port itself, or, if nothing listens on the sandbox's address, through the daemon to the same port of
 * its localhost (envd.md 9). When this resolves, the connection is open and no byte of the request was sent.
 *
 * @throws StaleRoute when the run of the sandbox has ended; ProxyError `port_closed` when nothing listens, `unavailable` when this machine lacks
 * a resource; the signal's reason when it aborts
 */
export async function openUpstream(upstreams: Upstreams, call: UpstreamCall, signal: AbortSignal): Promise<ClientRequest> {
  try {
    return await open(upstreams, call, signal)
  } catch (err) {
    if (!(err instanceof ProxyError) || err.problem.kind !== 'not_found') throw err
    throw new StaleRoute(call.exchange.sandboxId, err)
  }
}

async function open(upstreams: Upstreams, call: UpstreamCall, signal: AbortSignal): Promise<ClientRequest> {
  const { route, sandboxId, isDaemon, inbound } = call.exchange
  for (let attempt = 0; ; attempt++) {
    try {
      return await (isDaemon ? connect(upstreams.agents, call, signal) : connectToService(upstreams, call, signal))
    } catch (err) {
      signal.throwIfAborted()
      if (err instanceof ProxyError) throw err
      const code = errorCode(err)
      if (LOCAL_ERRORS.has(code)) throw new ProxyError({ kind: 'unavailable', sandboxId }, err)
      if (attempt === 0 && !(await upstreams.isCurrent(route))) throw new ProxyError({ kind: 'not_found', sandboxId }, err)
      signal.throwIfAborted()
      const pauseMs = RETRY_PAUSES_MS[attempt]
      // A daemon listens before its sandbox is running, so a refusal means that the sandbox has ended without a notification so far.
      const mayOpen = code === 'ECONNREFUSED' && !isDaemon
      if (!mayOpen || pauseMs === undefined) throw new ProxyError({ kind: 'port_closed', sandboxId, port: inbound.place.port }, err)
      await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

async function connectToService(upstreams: Upstreams, call: UpstreamCall, signal: AbortSignal): Promise<ClientRequest> {
  try {
    return await connect(upstreams.agents, call, signal)
  } catch (err) {
    signal.throwIfAborted()
    if (errorCode(err) !== 'ECONNREFUSED') throw err
    const { route, sandboxId, port } = call.exchange
    const { host, daemonPort } = route.endpoint
    const secret = await upstreams.tunnelSecret(sandboxId)
    const timedSignal = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    const tunnel = await openTunnel({ host, daemonPort, port, secret }, timedSignal)
    return await connect(upstreams.agents, call, signal, tunnel)
  }
}

function connect(agents: UpstreamAgents, call: UpstreamCall, signal: AbortSignal, tunnel?: Socket): Promise<ClientRequest> {
  const { route, port, inbound, headers } = call.exchange
  const { method, path } = inbound
  return new Promise((resolve, reject) => {
    const upstream = request({
      ...connectionOptions(agents, call, tunnel),
      host: route.endpoint.host,
      port,
      method,
      path,
      headers,
      maxHeaderSize: MAX_ANSWER_HEADERS_BYTES,
    })
    upstream.maxHeadersCount = 0
    const expired = setTimeout(() => upstream.destroy(new Error('connect timed out')), CONNECT_TIMEOUT_MS)
    const abort = (): void => void upstream.destroy()
    signal.addEventListener('abort', abort)
    const settle = (): void => {
      clearTimeout(expired)
      signal.removeEventListener('abort', abort)
    }
    // The listener stays: an error of a request without a listener would end the process.
    upstream.on('error', (err) => {
      settle()
      reject(err)
    })
    upstream.once('socket', (socket) => {
      const connected = (): void => {
        settle()
        resolve(upstream)
      }
      if (!socket.connecting) return connected()
      socket.setKeepAlive(true, KEEP_ALIVE_MS)
      socket.once('connect', connected)
    })
  })
}

function connectionOptions(agents: UpstreamAgents, { exchange, reuse }: UpstreamCall, tunnel: Socket | undefined): RequestOptions {
  if (tunnel !== undefined) return { createConnection: () => tunnel }
  return reuse ? agents.daemonOptions(exchange.route) : { agent: agents.fresh }
}

function errorCode(err: unknown): string {
  return err instanceof Error && 'code' in err ? String(err.code) : ''
}
