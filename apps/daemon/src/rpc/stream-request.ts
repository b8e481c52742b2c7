import type { IncomingMessage } from 'node:http'
import type { DescMessage, MessageShape } from '@bufbuild/protobuf'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Codec } from './codec.ts'
import { decompress } from './compression.ts'
import { COMPRESSED, END_OF_STREAM, type Envelope, EnvelopeReader } from './envelope.ts'
import { readRequest } from './request-body.ts'

/** How messages of a request are written. */
export interface MessageForm<I extends DescMessage> {
  readonly input: I
  readonly codec: Codec
  /** Whether envelopes may be compressed. */
  readonly sendsGzip: boolean
}

const OPENING_BRACE = 0x7b

/**
 * The one message of a server stream's request (envd.md 6.3). A JSON text without an envelope counts as one, since no envelope begins with
 * a brace (envd.md 17).
 *
 * @throws AppError for no message and for more than one
 */
export async function readOnlyMessage<I extends DescMessage>(request: IncomingMessage, form: MessageForm<I>): Promise<MessageShape<I>> {
  const body = await readRequest(request)
  if (body[0] === OPENING_BRACE && form.codec.name === 'json') return form.codec.decode(form.input, body)
  const reader = new EnvelopeReader()
  const envelopes = reader.read(body)
  // A complaint about the first message comes before one about what follows.
  const messages: MessageShape<I>[] = []
  for (const envelope of envelopes) {
    const message = await readMessage(envelope, form)
    if (message === undefined) break
    messages.push(message)
    if (messages.length > 1) throw new AppError('unimplemented', 'unary request has multiple messages')
  }
  reader.finish()
  const [message] = messages
  if (message === undefined) throw new AppError('unimplemented', 'unary request has zero messages')
  return message
}

/** The messages of a client stream as they come. */
export async function* readMessages<I extends DescMessage>(
  request: IncomingMessage,
  form: MessageForm<I>,
): AsyncGenerator<MessageShape<I>> {
  const reader = new EnvelopeReader()
  // An early return must not destroy the request, or its answer would be lost with it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    for (const envelope of reader.read(chunk)) {
      const message = await readMessage(envelope, form)
      if (message === undefined) return
      yield message
    }
  }
  reader.finish()
}

/** @returns undefined at the end of the stream */
async function readMessage<I extends DescMessage>(
  { flags, payload }: Envelope,
  { codec, input, sendsGzip }: MessageForm<I>,
): Promise<MessageShape<I> | undefined> {
  const isCompressed = (flags & COMPRESSED) !== 0
  if (isCompressed && !sendsGzip) {
    throw new AppError('internal', 'protocol error: sent compressed message without compression support')
  }
  const rest = flags & ~COMPRESSED
  if (rest === END_OF_STREAM) return undefined
  if (rest !== 0) throw new AppError('internal', `protocol error: invalid envelope flags ${flags}`)
  const bytes = isCompressed ? await decompress(payload) : payload
  // In a stream no bytes are an empty message in both codecs.
  return codec.decode(input, bytes.length === 0 && codec.name === 'json' ? Buffer.from('{}') : bytes)
}
