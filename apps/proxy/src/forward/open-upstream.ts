import { request, type ClientRequest, type RequestOptions } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { DAEMON_PORT, type SandboxAddress } from '../address/host.ts'
import { ProxyError } from '../answers/proxy-error.ts'
import type { LiveRoute } from '../routes/route.ts'
import { openTunnel } from './open-tunnel.ts'
import type { UpstreamAgents } from './upstream-agents.ts'

export interface UpstreamCall {
  /** As the client wrote it, for what it is told. */
  readonly address: SandboxAddress
  readonly route: LiveRoute
  /** The port on the route's host. */
  readonly port: number
  readonly method: string
  readonly path: string
  /** Name, value, name, value. */
  readonly headers: readonly string[]
  /** May take a connection that served another request before. */
  readonly reuse: boolean
}

export interface Upstreams {
  readonly agents: UpstreamAgents
  /** Whether the sandbox still runs as the route says. Rejects with a ProxyError `unavailable`. */
  readonly isCurrent: (route: LiveRoute) => Promise<boolean>
  /** What the daemon of a sandbox wants to see before it opens a tunnel. Rejects with a ProxyError `unavailable`. */
  readonly tunnelSecret: (sandboxId: string) => Promise<string>
}

/** Pauses between attempts to connect: a service that just started is found within a second. */
const RETRY_PAUSES_MS = [100, 200, 300, 400]
const CONNECT_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 20_000
/** Larger than any real answer's head; Node's own 16 KiB is not. */
const MAX_ANSWER_HEADERS_BYTES = 256 * 1024

/** Errors of this machine, not of the sandbox. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/**
 * Connects to a sandbox: to the port itself, or, where nothing listens on the sandbox's address, through the daemon to the same port of
 * its localhost (envd.md 9). When this resolves, the connection is there and not a byte of the request is on it.
 *
 * @throws ProxyError `not_found` when the sandbox is gone, `port_closed` when nothing listens, `unavailable` when this machine is out of
 * something; the signal's reason when it aborts
 */
export async function openUpstream(upstreams: Upstreams, call: UpstreamCall, signal: AbortSignal): Promise<ClientRequest> {
  const { route, address } = call
  const { sandboxId } = address
  // A daemon listens before its sandbox is running, so a refusal is an end that nobody has noticed yet.
  const isService = address.port !== DAEMON_PORT
  for (let attempt = 0; ; attempt++) {
    try {
      return await (isService ? connectToService(upstreams, call, signal) : connect(upstreams.agents, call, signal))
    } catch (err) {
      signal.throwIfAborted()
      if (err instanceof ProxyError) throw err
      const code = errorCode(err)
      if (LOCAL_ERRORS.has(code)) throw new ProxyError({ kind: 'unavailable', sandboxId }, err)
      if (attempt === 0 && !(await upstreams.isCurrent(route))) throw new ProxyError({ kind: 'not_found', sandboxId }, err)
      signal.throwIfAborted()
      const pauseMs = RETRY_PAUSES_MS[attempt]
      const mayOpen = code === 'ECONNREFUSED' && isService
      if (!mayOpen || pauseMs === undefined) throw new ProxyError({ kind: 'port_closed', sandboxId, port: address.port }, err)
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
    const { host, daemonPort } = call.route.endpoint
    const secret = await upstreams.tunnelSecret(call.route.sandboxId)
    const timedSignal = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    const tunnel = await openTunnel({ host, daemonPort, port: call.port, secret }, timedSignal)
    return await connect(upstreams.agents, call, signal, tunnel)
  }
}

function connect(agents: UpstreamAgents, call: UpstreamCall, signal: AbortSignal, tunnel?: Socket): Promise<ClientRequest> {
  const { route, port, method, path, headers } = call
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
    // It stays: a request that fails without a listener would end the process.
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

function connectionOptions(agents: UpstreamAgents, { route, reuse }: UpstreamCall, tunnel: Socket | undefined): RequestOptions {
  if (tunnel !== undefined) return { createConnection: () => tunnel }
  return reuse ? agents.daemonOptions(route) : { agent: agents.fresh }
}

function errorCode(err: unknown): string {
  return err instanceof Error && 'code' in err ? String(err.code) : ''
}
