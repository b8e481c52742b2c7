import type { FileHandle } from 'node:fs/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { WorkerPool } from '../workers/worker-pool.ts'
import type { ArchiveJob } from './archive-worker.ts'
import { diskFull } from './upload-space.ts'

/**
 * Writes exactly `sizeBytes`, syncs them to the disk and closes the file.
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
  } finally {
    await handle.close()
  }
}

/** A check uses a whole processor. */
const CHECKS_AT_ONCE = 2
/** A check keeps the paths of all symbolic links in memory; the rules allow 64 MiB of paths. */
const CHECK_MEMORY_MIB = 256

/** Checks archives, each in a thread of its own, one of a team at a time. The caller caps how many wait. */
export class ArchiveChecks implements AsyncDisposable {
  readonly #pool = new WorkerPool<ArchiveJob, void>({
    module: new URL('./archive-worker.ts', import.meta.url),
    width: CHECKS_AT_ONCE,
    memoryMib: CHECK_MEMORY_MIB,
  })

  /**
   * Reads an archive to its end and applies the rules for untrusted archives. Nothing is unpacked.
   *
   * @throws AppError `invalid_argument` for what the rules refuse, and for an archive that takes longer than `timeoutMs` or too much memory
   */
  async check(job: ArchiveJob, { teamId, timeoutMs }: { readonly teamId: string; readonly timeoutMs: number }): Promise<void> {
    await this.#pool.run(job, {
      owner: teamId,
      timeoutMs,
      onTimeout: () => tookTooLong(timeoutMs),
      onOutOfMemory: (cause) => tookTooMuchMemory(cause),
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }
}

function tookTooLong(timeoutMs: number): AppError {
  return new AppError(
    'invalid_argument',
    `the archive was refused: to read it through takes more than ${timeoutMs / 1000} seconds, so copy fewer or smaller files in one step`,
  )
}

function tookTooMuchMemory(cause: unknown): AppError {
  return new AppError(
    'invalid_argument',
    'the archive was refused: to read it through takes too much memory, so copy fewer files in one step',
    {
      cause,
    },
  )
}
