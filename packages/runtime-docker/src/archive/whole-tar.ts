import { AppError } from '@sandyard/kit/errors/app-error'

/** Two empty blocks end a tar archive. */
const END = Buffer.alloc(1024)

/**
 * Passes a tar stream on and fails at its end when the archive is not whole: after an engine has begun to send images or files, it can report
 * a failure only as text at the end of the stream.
 *
 * @throws AppError `unavailable`
 */
export async function* wholeTar(stream: AsyncIterable<Buffer>, what: 'images' | 'files' = 'images'): AsyncGenerator<Buffer> {
  let end: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of stream) {
      end = chunk.length >= END.length ? chunk.subarray(-END.length) : Buffer.concat([end, chunk]).subarray(-END.length)
      yield chunk
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw brokenOff(what, (cause as Error).message, cause)
  }
  if (end.equals(END)) return
  throw brokenOff(what, end.toString('utf8').match(/"message":"([^"]*)"/)?.[1] ?? 'its answer is not complete')
}

function brokenOff(what: string, reason: string, cause?: unknown): AppError {
  return new AppError('unavailable', `The Docker engine did not send all ${what} (${reason}).`, { cause })
}
