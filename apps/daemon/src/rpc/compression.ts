import { gunzip, gzip } from 'node:zlib'
import { AppError } from '@sandyard/kit/errors/app-error'
import { MAX_MESSAGE_BYTES, tooLarge } from './message-limit.ts'

/** Below this size compression costs more than it saves. */
const COMPRESS_FROM_BYTES = 1024
const HEADER_BYTES = 10
const BEST_SPEED = 1

/** The only encoding there is (envd.md 6.5). */
export const GZIP = 'gzip'

/** Compresses where that is worth its time; undefined where it is not. Speed counts for more than size: the wire is short. */
export function compress(bytes: Buffer): Promise<Buffer> | undefined {
  if (bytes.length < COMPRESS_FROM_BYTES) return undefined
  return new Promise((resolve, reject) =>
    gzip(bytes, { level: BEST_SPEED }, (error, zipped) => (error === null ? resolve(zipped) : reject(error))),
  )
}

/**
 * Reads a compressed message. One of no bytes is one of no bytes.
 *
 * @throws AppError `invalid_argument` for what is not gzip, and `resource_exhausted` for what unpacks to more than a message may have
 */
export function decompress(bytes: Buffer): Promise<Buffer> {
  if (bytes.length === 0) return Promise.resolve(bytes)
  return new Promise((resolve, reject) =>
    gunzip(bytes, { maxOutputLength: MAX_MESSAGE_BYTES }, (error, message) =>
      error === null ? resolve(message) : reject(toAppError(error, bytes.length)),
    ),
  )
}

function toAppError(error: NodeJS.ErrnoException, length: number): AppError {
  if (error.code === 'ERR_BUFFER_TOO_LARGE') return tooLarge()
  if (length < HEADER_BYTES) return new AppError('invalid_argument', 'get decompressor: unexpected EOF', { cause: error })
  if (error.message === 'incorrect header check') {
    return new AppError('invalid_argument', 'get decompressor: gzip: invalid header', { cause: error })
  }
  return new AppError('invalid_argument', `decompress: ${error.code === 'Z_BUF_ERROR' ? 'unexpected EOF' : error.message}`, {
    cause: error,
  })
}
