import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { envelope } from './raw-rpc.ts'

/**
 * Opens a connection with a call of `method` that has sent `messages` and neither ends nor reads. Resolves at the beginning of the answer,
 * or, for a call that is answered at its end, when the messages are sent.
 */
export async function openCall(url: string, method: string, messages: readonly object[]): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const isEndless = method === 'StreamInput'
  const body = Buffer.concat(messages.map((message) => envelope(message)))
  const length = isEndless ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const head = `POST /process.Process/${method} HTTP/1.1\r\nHost: x\r\nConnect-Protocol-Version: 1\r\nContent-Type: application/connect+json\r\n${length}\r\n\r\n`
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => undefined)
  const sent = isEndless ? toChunk(body) : body
  await new Promise((resolve) => socket.write(Buffer.concat([Buffer.from(head), sent]), resolve))
  if (!isEndless) {
    await once(socket, 'readable')
    socket.pause()
  }
  return socket
}

/** One chunk of a chunked request body. */
export function toChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
