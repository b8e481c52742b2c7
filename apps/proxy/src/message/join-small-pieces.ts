import type { IncomingMessage } from 'node:http'
import { SMALL_BYTES } from '@sandyard/kit/net/relay-bytes'

/**
 * Joins the small pieces of a body that arrive in one read. Node's parser makes one of each chunk: a read of 64 KiB may have ten thousand of them,
 * and each would cost a write to the other side, or hundreds of bytes while it waits.
 *
 * To be called before a byte of the body arrives.
 */
export function joinSmallPieces(message: IncomingMessage): void {
  const push = message.push.bind(message)
  let joined = ''
  const flush = (): void => {
    if (joined === '') return
    const bytes = Buffer.from(joined, 'latin1')
    joined = ''
    push(bytes)
  }
  message.push = (piece: Buffer | null) => {
    if (piece !== null && piece.length < SMALL_BYTES) {
      // Node parses a whole read before it does anything else.
      if (joined === '') process.nextTick(flush)
      joined += piece.toString('latin1')
      return message.readableLength + joined.length < message.readableHighWaterMark
    }
    flush()
    return push(piece)
  }
}
