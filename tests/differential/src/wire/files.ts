import type { WireRequest } from './exchange.ts'

type Headers = WireRequest['headers']
export type Query = Readonly<Record<string, string>>

function filesTarget(query: Query): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return pairs.length === 0 ? '/files' : `/files?${pairs.join('&')}`
}

export function download(query: Query, headers: Headers = []): WireRequest {
  return { method: 'GET', target: filesTarget(query), headers }
}

export function upload(query: Query, body: Buffer | string, headers: Headers = []): WireRequest {
  const hasType = headers.some(([name]) => name.toLowerCase() === 'content-type')
  const type: Headers = hasType ? [] : [['Content-Type', 'application/octet-stream']]
  return { method: 'POST', target: filesTarget(query), headers: [...type, ...headers], body: Buffer.from(body) }
}

export interface Part {
  /** The lines of the head, without the empty last line. */
  readonly head: readonly string[]
  readonly content: string | Buffer
}

export function filePart(filename: string, content: string | Buffer): Part {
  return { head: [`Content-Disposition: form-data; name="file"; filename="${filename}"`], content }
}

export const BOUNDARY = 'differential-boundary'

/** Encodes a head in latin1: one byte per character. */
export function multipart(parts: readonly Part[], boundary = BOUNDARY): Buffer {
  const pieces = parts.map(({ head, content }) =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\n${[...head, ''].join('\r\n')}\r\n`, 'latin1'),
      typeof content === 'string' ? Buffer.from(content) : content,
      Buffer.from('\r\n'),
    ]),
  )
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)])
}

export function uploadForm(query: Query, body: Buffer | string, headers: Headers = []): WireRequest {
  return upload(query, body, [['Content-Type', `multipart/form-data; boundary=${BOUNDARY}`], ...headers])
}
