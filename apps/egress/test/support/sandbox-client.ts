import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { WORLD_CA } from './start-egress.ts'

/** A TLS client on a connection, as a program in a sandbox. Rejects when the connection is closed before the handshake. */
export async function secure(socket: Socket, options: ConnectionOptions): Promise<TLSSocket> {
  const secured = connectTls({ socket, ca: WORLD_CA, ...options })
  const refused = new Error('closed without an answer')
  const closed = once(socket, 'close').then(() => {
    throw refused
  })
  closed.catch(() => undefined)
  const done = once(secured, 'secureConnect').catch((err: NodeJS.ErrnoException) => {
    // A client reports a connection that ends before its handshake in one of these ways.
    throw err.code === 'ECONNRESET' || err.code === 'EPIPE' ? refused : err
  })
  await Promise.race([done, closed])
  secured.on('error', () => undefined)
  return secured
}

/** Reads until the text contains `part`. Rejects when the connection is closed before. */
export async function readUntil(socket: Socket, part: string): Promise<string> {
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(part)) return text
  }
  throw new Error(`closed after ${JSON.stringify(text)}`)
}

/** Everything until the connection is closed, by an end or a reset. */
export async function readAll(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.on('end', () => socket.end())
  if (socket.readableEnded) socket.end()
  if (!socket.closed) await once(socket, 'close').catch(() => undefined)
  return text
}
