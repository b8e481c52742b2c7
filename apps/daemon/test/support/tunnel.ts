import { randomBytes } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo, type ListenOptions, type Socket } from 'node:net'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import { IDENTITY, platformInit, startManagedDaemon } from './managed-daemon.ts'
import type { TestDaemon } from './test-daemon.ts'

export const SECRET = randomBytes(32).toString('hex')

/** A daemon that has received the digest of the secret. */
export async function startTunnelDaemon(): Promise<TestDaemon> {
  const daemon = await startManagedDaemon()
  await platformInit(daemon, { identity: { ...IDENTITY, tunnelSecretHash: secretDigest(SECRET) } })
  return daemon
}

export interface TunnelRequest {
  readonly target: string
  readonly headers?: Record<string, string>
}

/** Sends `CONNECT` and returns the status and the connection. */
export function askForTunnel(
  daemonUrl: string,
  { target, headers = bearer(SECRET) }: TunnelRequest,
): Promise<{ status: number; socket: Socket }> {
  const { hostname, port } = new URL(daemonUrl)
  return new Promise((resolve, reject) => {
    const ask = request({ hostname, port, method: 'CONNECT', path: target, headers, agent: false })
    ask.once('error', reject)
    ask.once('connect', (answer: IncomingMessage, socket: Socket) => {
      socket.allowHalfOpen = true
      socket.on('error', () => undefined)
      resolve({ status: answer.statusCode ?? 0, socket })
    })
    ask.end()
  })
}

/** Sends `CONNECT` and returns the status. */
export async function tunnelStatus(daemonUrl: string, request: TunnelRequest): Promise<number> {
  const { status, socket } = await askForTunnel(daemonUrl, request)
  socket.destroy()
  return status
}

export function bearer(secret: string): Record<string, string> {
  return { 'Proxy-Authorization': `Bearer ${secret}` }
}

export interface LocalServer extends AsyncDisposable {
  readonly port: number
}

/** A TCP server that passes each connection to `serve`. */
export async function startLocalServer(options: ListenOptions, serve: (socket: Socket) => void): Promise<LocalServer> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined))
    serve(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
