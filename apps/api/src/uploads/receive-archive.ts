import type { FileHandle } from 'node:fs/promises'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { readArchive } from '@sandyard/kit/archive/read-archive'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { UploadBody } from './upload-body.ts'

/**
 * Writes exactly so many bytes and brings them to the disk.
 *
 * @throws AppError `invalid_argument` for another size than declared, `insufficient_storage` for a full disk; those of the body
 */
export async function writeArchive(handle: FileHandle, body: UploadBody, sizeBytes: number): Promise<void> {
  let written = 0
  try {
    for await (const chunk of body.chunks()) {
      await handle.writeFile(chunk)
      written += chunk.length
    }
    if (written !== sizeBytes) throw new AppError('invalid_argument', `The upload has ${written} bytes, not ${sizeBytes} as declared`)
    await handle.sync()
  } catch (err) {
    throw (err as NodeJS.ErrnoException).code === 'ENOSPC' ? diskFull(err) : err
  }
}

/** Reads an archive to its end under the rules for archives of unknown origin. Nothing of it is kept. */
export async function checkArchive(handle: FileHandle, limits: ArchiveLimits): Promise<void> {
  const source = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 1024 ** 2 })
  for await (const _ of readArchive(source, limits));
}

export function diskFull(cause?: unknown): AppError {
  return new AppError('insufficient_storage', 'The server has no disk space left for this upload: free some, or remove templates', {
    cause,
  })
}
