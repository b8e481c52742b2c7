import { connect } from 'node:net'
import { parseAnswer, type WireAnswer } from './parse-answer.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/** A raw request. Only `Host`, `Connection` and the length of the body are added, unless the headers have them. */
export interface WireRequest {
  readonly method: string
  /** The target of the request line, one character per byte. */
  readonly target: string
  /** Names and values in latin1. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: Buffer
  /** Time limit of the answer; after it the bytes that have arrived count as the answer. */
  readonly waitMs?: number
  /** The client closes its side after the request, like a request that was cut short. */
  readonly cut?: boolean
}

const WAIT_MS = 10_000

/** Sends one request on a new connection and reads until the daemon closes it. */
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
      // The daemon may close the connection before it has read the request; bytes that arrived before count.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearTimeout(timer)
      const answer = parseAnswer(Buffer.concat(chunks), isLate)
      // An answer to HEAD has a Content-Length but no body.
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
