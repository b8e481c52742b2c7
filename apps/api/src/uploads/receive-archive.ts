import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { readArchive } from '@sandyard/kit/archive/read-archive'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { AppError } from '@sandyard/kit/errors/app-error'

/** A sender that is silent for so long is given up. */
const STALL_MS = 30_000

export interface ArchiveSource {
  readonly body: Readable
  /** As its sender declared it. */
  readonly sizeBytes: number
}

/**
 * Writes exactly the declared bytes and brings them to the disk. Whatever goes wrong here is told once the rest has been read and
 * dropped, so that the sender hears it.
 *
 * @throws AppError `invalid_argument` for another size than declared, `deadline_exceeded` when nothing comes for long,
 * `insufficient_storage` for a full disk
 */
export async function writeArchive(handle: FileHandle, { body, sizeBytes }: ArchiveSource): Promise<void> {
  let written = 0
  const stall = setTimeout(() => body.destroy(new AppError('deadline_exceeded', 'The upload stalled')), STALL_MS)
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      stall.refresh()
      await handle.writeFile(chunk)
      written += chunk.length
    }
    if (written !== sizeBytes) throw new AppError('invalid_argument', `The upload has ${written} bytes, not ${sizeBytes} as declared`)
    await handle.sync()
  } catch (err) {
    await drain(body)
    const { code } = err as NodeJS.ErrnoException
    if (code === 'ECONNRESET') throw new AppError('canceled', 'The upload was cut off', { cause: err })
    throw code === 'ENOSPC' ? diskFull(err) : err
  } finally {
    clearTimeout(stall)
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

async function drain(body: Readable): Promise<void> {
  if (body.destroyed || body.readableEnded) return
  const stall = setTimeout(() => body.destroy(), STALL_MS)
  body.on('data', () => stall.refresh())
  await finished(body).catch(() => undefined)
  clearTimeout(stall)
}
