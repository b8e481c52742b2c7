import { once } from 'node:events'
import { request, type Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const MIB = 1024 * 1024
/** Deadline of silence on a connection: longer than any call here takes, so that a server that hangs causes a failure. */
const SILENCE_MS = 120_000

/** A request without its host: every compared server gets the same bytes. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly status: number
}

export class UnexpectedStatusError extends Error {
  override readonly name = 'UnexpectedStatusError'
  readonly status: number

  constructor(path: string, status: number, text: string) {
    super(`${path} answered ${status}: ${text.trim()}`)
    this.status = status
  }
}

/** Sends a small request and returns its whole answer. */
export async function send(origin: string, agent: Agent, call: Call): Promise<Buffer> {
  const { method, path, headers = {}, body, status } = call
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  return await new Promise<Buffer>((resolve, reject) => {
    const options = { agent, method, headers: { ...headers, ...length }, timeout: SILENCE_MS }
    const sent = request(new URL(path, origin), options, (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', reject)
        .once('end', () => {
          const whole = Buffer.concat(chunks)
          if (answer.statusCode === status) resolve(whole)
          else reject(new UnexpectedStatusError(path, answer.statusCode ?? 0, whole.toString()))
        })
    })
    endOnSilence(sent).once('error', reject).end(body)
  })
}

/** A unary call of a Connect service, in JSON. */
export function unary(path: string, message: unknown): Call {
  const headers = { 'content-type': 'application/json', 'connect-protocol-version': '1' }
  return { method: 'POST', path, headers, body: Buffer.from(JSON.stringify(message)), status: 200 }
}

/** A call of a Connect service with a stream as answer, in JSON. */
export function streamed(path: string, message: unknown): Call {
  return enveloped(path, 'application/connect+json', Buffer.from(JSON.stringify(message)))
}

/** The same in protobuf. */
export function streamedBinary(path: string, message: Buffer): Call {
  return enveloped(path, 'application/connect+proto', message)
}

function enveloped(path: string, type: string, message: Buffer): Call {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  const headers = { 'content-type': type, 'connect-protocol-version': '1' }
  return { method: 'POST', path, headers, body: Buffer.concat([head, message]), status: 200 }
}

export interface Transfer {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly mib: number
}

/** Posts `mib` MiB on a new connection, between `before` and `after`; rejects on any answer except 200. */
export async function upload({
  url,
  headers,
  mib,
  before = '',
  after = '',
}: Transfer & { before?: string; after?: string }): Promise<void> {
  const length = { 'content-length': String(mib * MIB + before.length + after.length) }
  const type = { 'content-type': 'application/octet-stream' }
  const options = { method: 'POST', headers: { ...type, ...headers, ...length }, agent: false, timeout: SILENCE_MS }
  const call = endOnSilence(request(url, options))
  const chunk = Buffer.alloc(MIB, 'a')
  const chunks = [Buffer.from(before), ...Array<Buffer>(mib).fill(chunk), Buffer.from(after)].filter(({ length }) => length > 0)
  const sent = pipeline(Readable.from(chunks), call)
  const [[answer]] = (await Promise.all([once(call, 'response'), sent])) as [[IncomingMessage], void]
  await expectOk(url, answer)
  answer.resume()
  await once(answer, 'end')
}

/**
 * Gets `mib` MiB on a new connection and drops them; rejects when more or fewer arrive. With `coding` it rejects any other coding, and
 * does not decode.
 */
export async function download({ url, headers, mib, coding = 'identity' }: Transfer & { coding?: string }): Promise<void> {
  const options = { headers: { ...headers, 'accept-encoding': coding }, agent: false, timeout: SILENCE_MS }
  const call = endOnSilence(request(url, options)).end()
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  await expectOk(url, answer)
  let bytes = 0
  answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
  await once(answer, 'end')
  const sent = answer.headers['content-encoding'] ?? 'identity'
  if (sent !== coding) throw new Error(`${url.href} was sent as ${sent}`)
  if (coding === 'identity' && bytes !== mib * MIB) throw new Error(`${url.href} sent ${bytes} bytes`)
}

function endOnSilence(call: ClientRequest): ClientRequest {
  return call.once('timeout', () => call.destroy(new Error(`${call.method} ${call.path} was silent for ${SILENCE_MS / 1000} s`)))
}

async function expectOk({ pathname }: URL, answer: IncomingMessage): Promise<void> {
  if (answer.statusCode === 200) return
  throw new UnexpectedStatusError(pathname, answer.statusCode ?? 0, (await answer.setEncoding('utf8').toArray()).join(''))
}
