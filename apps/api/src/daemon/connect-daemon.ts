import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxEndpoint } from '@sandyard/runtime/types'

/** A starting daemon refuses connections at once, so the first pauses are short. */
const FIRST_PAUSE_MS = 4
/** Later ones are a share of the time waited: many daemons that start together leave their processors to each other. */
const PAUSE_SHARE = 1 / 20
const LONGEST_PAUSE_MS = 100
/** An address that is not configured yet drops packets. A new connection is faster than the kernel's own retransmits. */
const CONNECT_TIMEOUT_MS = 200

/** Connects as soon as the daemon of a sandbox listens. A try is only a connection, because most tries fail. @throws the abort reason */
export async function connectDaemon({ host, daemonPort: port }: SandboxEndpoint, signal: AbortSignal): Promise<Socket> {
  const began = performance.now()
  while (true) {
    signal.throwIfAborted()
    const socket = await tryConnect(host, port)
    if (socket !== undefined) return socket
    const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, (performance.now() - began) * PAUSE_SHARE))
    await delay(pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/** Connects to a daemon that runs. @throws AppError `unavailable` when it does not accept the connection */
export async function connectOnce({ host, daemonPort: port }: SandboxEndpoint): Promise<Socket> {
  const socket = await tryConnect(host, port)
  if (socket === undefined) throw new AppError('unavailable', 'the daemon does not accept connections any more')
  return socket
}

/** Undefined when the connection was refused or not answered. */
function tryConnect(host: string, port: number): Promise<Socket | undefined> {
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>()
  const socket = connect({ host, port })
  const timer = setTimeout(() => fail(), CONNECT_TIMEOUT_MS)
  function fail(): void {
    clearTimeout(timer)
    socket.destroy()
    resolve(undefined)
  }
  socket.once('error', fail)
  socket.once('connect', () => {
    clearTimeout(timer)
    socket.off('error', fail)
    resolve(socket)
  })
  return promise
}
