import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'

/** Bodies up to this size usually arrive with the head of their request. */
const SMALL_BODY_BYTES = 64 * 1024

/**
 * The whole body of a request, if it is small and has arrived with the head; undefined if it has to be waited for, and then nothing has been
 * read. One read instead of a stream saves a small call most of its time. Use it before anything else reads the body.
 *
 * @param kept of a request whose body may have been cut (`keepCutBody`)
 */
export async function takeReceivedBody(request: IncomingMessage, kept?: { readonly isCut: boolean }): Promise<Buffer | undefined> {
  // Node hands over the head before it parses the bytes behind it.
  if (!request.complete) await setImmediate()
  if (!request.complete || kept?.isCut === true || request.readableEnded || request.readableLength > SMALL_BODY_BYTES) return undefined
  return (request.read() as Buffer | null) ?? Buffer.alloc(0)
}
