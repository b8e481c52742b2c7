import type { RawSandbox } from './raw-sandbox.ts'
import type { RawAnswer } from './raw-http.ts'
import { daemonPort, headerForm, streamThroughProxy, throughProxy } from './through-proxy.ts'

/** One message of a stream: `flags` is 2 for the last one. */
export interface Envelope {
  readonly flags: number
  readonly message: Record<string, unknown>
}

/** The headers of every call to the daemon of a sandbox. */
export function daemonHeaders({ id, token }: Pick<RawSandbox, 'id' | 'token'>): Record<string, string> {
  return { ...headerForm({ sandboxId: id }, daemonPort), ...(token === '' ? {} : { 'x-access-token': token }) }
}

/** A unary call, e.g. `filesystem.Filesystem/Stat`, without a client library. Headers with an empty value are omitted. */
export async function callRpc(sandbox: RawSandbox, method: string, body: string, headers: Record<string, string> = {}): Promise<RawAnswer> {
  const all = {
    'content-type': 'application/json',
    'connect-protocol-version': '1',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  return throughProxy(daemonHeaders(sandbox), { method: 'POST', path: `/${method}`, body, headers: sent })
}

/** Opens a server stream, and yields its envelopes as they arrive. */
export async function openStream(
  sandbox: RawSandbox,
  method: string,
  request: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; contentType: string | undefined; envelopes: AsyncGenerator<Envelope> }> {
  const answer = await streamThroughProxy(daemonHeaders(sandbox), {
    method: 'POST',
    path: `/${method}`,
    body: envelope(JSON.stringify(request)),
    headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1', 'transfer-encoding': 'chunked', ...headers },
  })
  return { status: answer.statusCode ?? 0, contentType: answer.headers['content-type'], envelopes: readEnvelopes(answer) }
}

function envelope(text: string): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(Buffer.byteLength(text), 1)
  return Buffer.concat([head, Buffer.from(text)])
}

async function* readEnvelopes(stream: AsyncIterable<Buffer>): AsyncGenerator<Envelope> {
  let rest = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const size = rest.readUInt32BE(1)
      yield { flags: rest.readUInt8(0), message: JSON.parse(rest.subarray(5, 5 + size).toString()) as Record<string, unknown> }
      rest = rest.subarray(5 + size)
    }
  }
}
