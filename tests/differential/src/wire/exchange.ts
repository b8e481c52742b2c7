import { connect } from 'node:net'
import { parseAnswer, type WireAnswer } from './parse-answer.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/** A request as bytes; only `Host`, `Connection` and the length of the body are added, unless the headers have one. */
export interface WireRequest {
  readonly method: string
  /** As on the request line, one character a byte. */
  readonly target: string
  /** Names and values in latin1. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: Buffer
  /** How long the answer may take; one that takes longer counts as what has come by then. */
  readonly waitMs?: number
  /** The client ends its side behind the request, as one that was cut off. */
  readonly cut?: boolean
}

const WAIT_MS = 10_000

/** Sends one request on a connection of its own and reads until the daemon closes it. */
export function exchange(address: Address, request: WireRequest): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(address.port, address.host)
    const chunks: Buffer[] = []
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      socket.destroy()
    }, request.waitMs ?? WAIT_MS)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The daemon may close while the request is still on its way; what it said before counts.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      const answer = parseAnswer(Buffer.concat(chunks), isLate)
      // The length in the head of a HEAD answer is that of another one.
      resolve(request.method === 'HEAD' && answer.status > 0 && !isLate ? { ...answer, end: 'whole' } : answer)
    })
    socket.write(toBytes(address, request))
    if (request.cut === true) socket.end()
  })
}

export function toBytes(address: Address, { method, target, headers, body }: WireRequest): Buffer {
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const lines = [`${method} ${target} HTTP/1.1`]
  if (!given.has('host')) lines.push(`Host: ${address.host}:${address.port}`)
  if (!given.has('connection')) lines.push('Connection: close')
  if (body !== undefined && !given.has('content-length') && !given.has('transfer-encoding')) lines.push(`Content-Length: ${body.length}`)
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body ?? Buffer.alloc(0)])
}
