import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import type { MethodKind } from './rpc-methods.ts'

const OPENING_BRACE = 0x7b
const HEAD_BYTES = 5
/** How long a refused client may take to send the rest of its body. */
const DISCARD_MS = 2000

/**
 * The bytes of a call. The iterator does not destroy the request if the library stops reading early, because that would also lose the
 * answer.
 */
export function readBody(request: IncomingMessage, kind: MethodKind, maxBytes: number): AsyncIterable<Uint8Array> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  const mayBeBare = kind === 'server_stream' && request.headers['content-type']?.includes('json') === true
  return mayBeBare ? frameBareJson(chunks, maxBytes) : chunks
}

/** Puts JSON without an envelope into one: no envelope of a request begins with a brace (envd.md 17). */
async function* frameBareJson(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  const bare: Uint8Array[] = []
  let isBare: boolean | undefined
  let length = 0
  for await (const chunk of chunks) {
    isBare ??= chunk[0] === OPENING_BRACE
    if (!isBare) {
      yield chunk
      continue
    }
    bare.push(chunk)
    length += chunk.length
    // The library refuses the length in the envelope.
    if (length > maxBytes) break
  }
  if (isBare !== true) return
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32BE(length, 1)
  yield head
  yield* bare
}

/**
 * Reads and drops the body of a call that is refused before its message is read. An answer before the end of the body would close a
 * connection that is not kept open, and the client could lose the answer: its next write fails.
 */
export async function discardBody(request: IncomingMessage | undefined): Promise<void> {
  if (request === undefined || request.readableEnded || request.destroyed) return
  request.resume()
  await finished(request, { writable: false, signal: AbortSignal.timeout(DISCARD_MS) }).catch(() => undefined)
}
