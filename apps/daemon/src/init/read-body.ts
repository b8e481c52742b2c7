import type { IncomingMessage } from 'node:http'

/** More than a platform sends; the route is open to everyone who reaches the daemon. */
const MAX_BYTES = 8 * 1024 * 1024

/** The body of a request as text; undefined when it is cut short or larger than any real one. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // An early return must not destroy the request: the answer would be lost.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) return undefined
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString()
}
