import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { worldCertificate } from './start-egress.ts'

export interface SocksOptions {
  readonly credentials?: { readonly username: string; readonly password: string }
  /** SOCKS5 inside TLS, with a certificate for this name. */
  readonly tlsName?: string
  /** The address that it connects to for any name. */
  readonly resolvesTo?: string
  /** The code of its answer to every request. Default: 0, connected. */
  readonly answer?: number
}

export interface SocksServer extends AsyncDisposable {
  readonly port: number
  /** The destinations that it was asked for, as `host:port`. */
  readonly asked: string[]
}

/** A real SOCKS5 server (RFC 1928, 1929) for tests. */
export async function startSocks(options: SocksOptions = {}): Promise<SocksServer> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket): void => {
    socket.on('error', () => undefined)
    void converse(socket, options, asked).catch(() => socket.destroy())
  }
  const server: Server =
    options.tlsName === undefined
      ? createServer({ allowHalfOpen: true }, serve)
      : createTlsServer({ ...worldCertificate(options.tlsName), allowHalfOpen: true }, serve)
  server.on('tlsClientError', () => undefined)
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)))
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function converse(socket: Socket, { credentials, resolvesTo, answer = 0 }: SocksOptions, asked: string[]): Promise<void> {
  const [, methodCount = 0] = await read(socket, 2)
  const methods = [...(await read(socket, methodCount))]
  const method = credentials === undefined ? 0 : 2
  if (!methods.includes(method)) return void socket.end(Buffer.from([5, 0xff]))
  socket.write(Buffer.from([5, method]))
  if (credentials !== undefined) {
    const [, nameLength = 0] = await read(socket, 2)
    const username = String(await read(socket, nameLength))
    const [passwordLength = 0] = await read(socket, 1)
    const password = String(await read(socket, passwordLength))
    const isRight = username === credentials.username && password === credentials.password
    if (!isRight) return void socket.end(Buffer.from([1, 1]))
    socket.write(Buffer.from([1, 0]))
  }
  const [, , , kind] = await read(socket, 4)
  const host = kind === 1 ? (await read(socket, 4)).join('.') : String(await read(socket, (await read(socket, 1))[0] ?? 0))
  const port = (await read(socket, 2)).readUInt16BE(0)
  asked.push(`${host}:${port}`)
  const reply = Buffer.from([5, answer, 0, 1, 0, 0, 0, 0, 0, 0])
  if (answer !== 0) return void socket.end(reply)
  const upstream = connect({ host: kind === 1 ? host : (resolvesTo ?? host), port, allowHalfOpen: true })
  upstream.on('error', () => socket.destroy())
  const [first] = (await Promise.race([
    once(upstream, 'data'),
    once(upstream, 'connect').then(() => new Promise((resolve) => setImmediate(() => resolve([])))),
  ])) as [Buffer?]
  // The first bytes of the server come with the answer, in one segment.
  socket.write(first === undefined ? reply : Buffer.concat([reply, first]))
  socket.pipe(upstream)
  upstream.pipe(socket)
}

/** Exactly `length` bytes. */
async function read(socket: Socket, length: number): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0)
  while (true) {
    const chunk = socket.read(length) as Buffer | null
    if (chunk !== null) return chunk
    if (socket.readableEnded || socket.destroyed) throw new Error('the client has gone')
    await Promise.race([once(socket, 'readable'), once(socket, 'close')])
  }
}
