import type { FileHandle } from 'node:fs/promises'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { readArchive } from '@sandyard/kit/archive/read-archive'
import { AppError } from '@sandyard/kit/errors/app-error'
import { diskFull } from './upload-space.ts'

/** All that one read brings is taken apart in one go, while nobody else of the server has a turn. */
const READ_BYTES = 64 * 1024

/**
 * Writes exactly so many bytes and brings them to the disk.
 *
 * @throws AppError `invalid_argument` for another size than declared, `insufficient_storage` for a full disk; those of the chunks
 */
export async function writeArchive(handle: FileHandle, chunks: AsyncIterable<Buffer>, sizeBytes: number): Promise<void> {
  let written = 0
  try {
    for await (const chunk of chunks) {
      await handle.writeFile(chunk)
      written += chunk.length
    }
    if (written !== sizeBytes) throw new AppError('invalid_argument', `The upload has ${written} bytes, not ${sizeBytes} as declared`)
    await handle.sync()
  } catch (err) {
    throw (err as NodeJS.ErrnoException).code === 'ENOSPC' ? diskFull(err) : err
  }
}

/**
 * Reads an archive to its end under the rules for archives of unknown origin. Nothing of it is kept.
 *
 * @throws AppError `invalid_argument` for what the rules refuse, and for an archive that takes longer than `timeoutMs`
 */
export async function checkArchive(handle: FileHandle, limits: ArchiveLimits, timeoutMs: number): Promise<void> {
  const source = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: READ_BYTES })
  const stop = new AbortController()
  const deadline = setTimeout(() => stop.abort(tookTooLong(timeoutMs)), timeoutMs)
  try {
    for await (const _ of readArchive(source, limits, stop.signal));
  } finally {
    clearTimeout(deadline)
  }
}

function tookTooLong(timeoutMs: number): AppError {
  return new AppError(
    'invalid_argument',
    `the archive was refused: to read it through takes more than ${timeoutMs / 1000} seconds, so copy fewer or smaller files in one step`,
  )
}
