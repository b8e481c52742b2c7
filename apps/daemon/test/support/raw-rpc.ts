import { gunzipSync } from 'node:zlib'

export interface Envelope {
  readonly flags: number
  readonly message: Record<string, unknown>
}

const HEADERS = { 'connect-protocol-version': '1' }

/** One envelope of a stream. Sets the flags, but does not compress. */
export function envelope(body: string | object, flags = 0): Buffer<ArrayBuffer> {
  const payload = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

/** A unary call without a client library; a body of bytes is sent unchanged. */
export async function unary(url: string, method: string, body: string | object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...HEADERS, ...headers },
    body: typeof body === 'string' ? body : Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Reads a server stream to its end and returns its envelopes. */
export async function stream(url: string, method: string, body: Buffer<ArrayBuffer>, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json', ...HEADERS, ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, envelopes: split(Buffer.from(await response.arrayBuffer())) }
}

function split(bytes: Buffer): Envelope[] {
  const envelopes: Envelope[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1)
    const flags = bytes.readUInt8(at)
    const payload = bytes.subarray(at + 5, end)
    const json = (flags & 1) === 0 ? payload : gunzipSync(payload)
    envelopes.push({ flags, message: JSON.parse(json.toString()) as Envelope['message'] })
    at = end
  }
  return envelopes
}
