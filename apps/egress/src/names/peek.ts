import type { Socket } from 'node:net'

export interface PeekOptions<T> {
  /** Reads the bytes so far. A number: so many are needed before it is worth to read again. */
  readonly parse: (bytes: Buffer) => T | number
  readonly maxBytes: number
  readonly timeoutMs: number
}

/** Why a peek ended without a result: at the deadline, at the end of the stream, or at the cap. */
export interface Unread {
  readonly kind: 'unread'
  readonly bytes: number
}

/**
 * Reads the beginning of a stream and puts it back. The socket is paused afterwards.
 *
 * @returns the result, or `unread`; undefined when the socket was closed
 */
export function peek<T extends object>(socket: Socket, { parse, maxBytes, timeoutMs }: PeekOptions<T>): Promise<T | Unread | undefined> {
  const { promise, resolve } = Promise.withResolvers<T | Unread | undefined>()
  const chunks: Buffer[] = []
  let bytes = 0
  let needed = 1
  const stop = (result: T | Unread | undefined): void => {
    clearTimeout(timer)
    socket.off('data', onData).off('end', onEnd).off('close', onClose)
    socket.pause()
    // In one piece, because a later unshift would come before an earlier one.
    if (bytes > 0 && !socket.destroyed) socket.unshift(Buffer.concat(chunks))
    resolve(result)
  }
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk)
    bytes += chunk.length
    // A client may send single bytes, so they are not joined for each.
    if (bytes < needed && bytes < maxBytes) return
    const result = parse(Buffer.concat(chunks))
    if (typeof result !== 'number') stop(result)
    else if (bytes >= maxBytes) stop({ kind: 'unread', bytes })
    else needed = result
  }
  const onEnd = (): void => stop({ kind: 'unread', bytes })
  const onClose = (): void => stop(undefined)
  const timer = setTimeout(() => stop({ kind: 'unread', bytes }), timeoutMs)
  socket.on('data', onData).on('end', onEnd).on('close', onClose)
  if (socket.destroyed) onClose()
  else socket.resume()
  return promise
}
