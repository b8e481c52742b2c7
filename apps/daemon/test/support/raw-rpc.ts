export interface Envelope {
  readonly flags: number
  readonly message: Record<string, unknown>
}

const HEADERS = { 'connect-protocol-version': '1' }

export function envelope(body: string | object): Buffer<ArrayBuffer> {
  const payload = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

/** A unary call without a client library in between. */
export async function unary(url: string, method: string, body: string | object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...HEADERS, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A server stream, read to its end, as it was on the wire. */
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
    envelopes.push({ flags: bytes.readUInt8(at), message: JSON.parse(bytes.subarray(at + 5, end).toString()) as Envelope['message'] })
    at = end
  }
  return envelopes
}
