import type { IncomingMessage } from 'node:http'
import { MAX_MESSAGE_BYTES, tooLarge } from './message-limit.ts'

/**
 * Everything that a request carries.
 *
 * @throws AppError `resource_exhausted` as soon as it is more than a message may be; the stream's error when the client goes before its end
 */
export function readRequest(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= MAX_MESSAGE_BYTES) return void chunks.push(chunk)
      // What follows is let go unread.
      chunks.length = 0
      reject(tooLarge())
    })
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)))
    request.on('error', reject)
  })
}

/** Whether the client broke off before the end of its request: there is nobody to answer. */
export function isCut(request: IncomingMessage): boolean {
  return request.destroyed && !request.complete
}
