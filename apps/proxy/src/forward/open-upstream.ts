import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ProxyError } from '../answers/proxy-error.ts'
import type { LiveRoute } from '../routes/route.ts'
import type { Exchange } from './find-exchange.ts'
import { StaleRoute } from './follow-route.ts'
import { openTunnel } from './open-tunnel.ts'
import { ReadMemory } from './read-memory.ts'
import { speakTls } from './speak-tls.ts'

export interface Upstreams {
  /** Whether the sandbox still runs as in the route. Rejects with a ProxyError `unavailable`. */
  readonly isCurrent: (route: LiveRoute) => Promise<boolean>
  /** The secret that the daemon of a sandbox requires for a tunnel. Rejects with a ProxyError `unavailable`. */
  readonly tunnelSecret: (sandboxId: string) => Promise<string>
}

/** Pauses between attempts to connect: a service that is just starting is reached within a second. */
const RETRY_PAUSES_MS = [100, 200, 300, 400]
const CONNECT_TIMEOUT_MS = 30_000
const KEEP_ALIVE_MS = 20_000

/** Errors of this machine, not of the sandbox. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'])

/**
 * Connects to a sandbox: to the port itself, or, if nothing listens on the sandbox's address, through the daemon to the same port of
 * its localhost (envd.md 9). No byte of the request was sent when this resolves.
 *
 * @throws StaleRoute when the run of the sandbox has ended; ProxyError `port_closed` when nothing listens, `unavailable` when this machine lacks
 * a resource; the signal's reason when it aborts
 */
export async function openUpstream(upstreams: Upstreams, exchange: Exchange, signal: AbortSignal): Promise<Socket> {
  try {
    return await open(upstreams, exchange, signal)
  } catch (err) {
    if (!(err instanceof ProxyError) || err.problem.kind !== 'not_found') throw err
    throw new StaleRoute(exchange.sandboxId, err)
  }
}

async function open(upstreams: Upstreams, exchange: Exchange, signal: AbortSignal): Promise<Socket> {
  const { route, sandboxId, isDaemon, inbound, tlsName } = exchange
  for (let attempt = 0; ; attempt++) {
    try {
      const socket = await (isDaemon ? openSocket(exchange, signal) : openToService(upstreams, exchange, signal))
      return tlsName === undefined ? socket : await speakTls(socket, tlsName, signal)
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

async function openToService(upstreams: Upstreams, exchange: Exchange, signal: AbortSignal): Promise<Socket> {
  try {
    return await openSocket(exchange, signal)
  } catch (err) {
    signal.throwIfAborted()
    if (errorCode(err) !== 'ECONNREFUSED') throw err
    const { route, sandboxId, port } = exchange
    const { host, daemonPort } = route.endpoint
    const secret = await upstreams.tunnelSecret(sandboxId)
    const timedSignal = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    return await openTunnel({ host, daemonPort, port, secret }, timedSignal)
  }
}

function openSocket({ route, port, isDaemon, inbound }: Exchange, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const { host } = route.endpoint
    const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
    const memory = isDaemon && inbound.upgrade === undefined ? new ReadMemory() : undefined
    const socket = connect(memory === undefined ? options : { ...options, onread: memory.onread })
    memory?.attach(socket)
    const expired = setTimeout(() => socket.destroy(new Error('connect timed out')), CONNECT_TIMEOUT_MS)
    const abort = (): void => void socket.destroy()
    signal.addEventListener('abort', abort)
    const settle = (): void => {
      clearTimeout(expired)
      signal.removeEventListener('abort', abort)
    }
    // The listeners stay: an error of a socket without a listener would end the process.
    socket.on('error', (err) => {
      settle()
      reject(err)
    })
    socket.once('close', () => {
      settle()
      reject(new Error('the connection was closed'))
    })
    socket.once('connect', () => {
      settle()
      resolve(socket)
    })
  })
}

function errorCode(err: unknown): string {
  return err instanceof Error && 'code' in err ? String(err.code) : ''
}
