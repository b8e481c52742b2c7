import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type DescMessage, fromJsonString, type MessageShape } from '@bufbuild/protobuf'
import type { FastifyRequest } from 'fastify'
import { openEnvelope } from './envelope.ts'

/** Requests are small; whatever is larger goes the long way. */
const MAX_REQUEST_BYTES = 1024 * 1024

const MEDIA_TYPE = { unary: /^application\/json\s*(?:;|$)/i, stream: /^application\/connect\+json\s*(?:;|$)/i }
export type CallKind = keyof typeof MEDIA_TYPE

/**
 * The message of a request in the one form that SDKs use: uncompressed JSON with the version header. Undefined for any other form, and for
 * what is not well-formed: the request is then as it came, for the library to serve or to refuse.
 */
export async function readPlainMessage<I extends DescMessage>(
  request: FastifyRequest,
  kind: CallKind,
  input: I,
): Promise<MessageShape<I> | undefined> {
  if (!isPlain(request.headers, kind)) return undefined
  const { bytes, isWhole } = await readStart(request.raw)
  const message = isWhole ? parse(input, kind === 'stream' ? openEnvelope(bytes) : bytes.toString()) : undefined
  if (message === undefined) request.body = replay(bytes, isWhole ? undefined : request.raw)
  return message
}

function isPlain(headers: IncomingHttpHeaders, kind: CallKind): boolean {
  const { 'content-type': type = '', 'connect-protocol-version': version, 'connect-timeout-ms': timeout = '0' } = headers
  const encodings =
    kind === 'unary' ? [headers['content-encoding']] : [headers['connect-content-encoding'], headers['connect-accept-encoding']]
  return (
    MEDIA_TYPE[kind].test(type) &&
    version === '1' &&
    encodings.every((encoding) => encoding === undefined || encoding === 'identity') &&
    /^\d{1,10}$/.test(String(timeout))
  )
}

function parse<I extends DescMessage>(input: I, json: string | undefined): MessageShape<I> | undefined {
  if (json === undefined) return undefined
  try {
    return fromJsonString(input, json, { ignoreUnknownFields: true })
  } catch {
    return undefined
  }
}

/** The body, or as much of one that is too long as has come when that shows. Rejects when the client goes before its end. */
function readStart(request: IncomingMessage): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    const settle = (isWhole: boolean): void => {
      request.off('data', onData).off('end', onEnd).off('error', reject)
      resolve({ bytes: Buffer.concat(chunks), isWhole })
    }
    const onEnd = (): void => settle(true)
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      length += chunk.length
      if (length <= MAX_REQUEST_BYTES) return
      request.pause()
      settle(false)
    }
    request.on('data', onData).on('end', onEnd).on('error', reject)
  })
}

async function* replay(bytes: Buffer, rest: AsyncIterable<Buffer> | undefined): AsyncGenerator<Buffer> {
  yield bytes
  if (rest !== undefined) yield* rest
}
