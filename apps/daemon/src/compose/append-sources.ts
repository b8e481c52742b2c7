import { AppError } from '@sandyard/kit/errors/app-error'
import { constants, fstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { copyContent } from '../sys/copy-file-range.ts'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import { internal, isOutOfSpace, notRegular, outOfSpace, sourceNotFound } from './compose-failure.ts'
import type { Source } from './find-sources.ts'

/** Non-blocking, because the path may have become a FIFO without a writer. */
const SOURCE_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK
/** How many sources are open at a time. Opening and closing them in batches is faster than one by one. */
const BATCH = 16

/**
 * Copies the sources, in their order, to the position of an open file.
 *
 * @throws AppError with the texts of envd.md 5.8, checks 13 and 14
 */
export async function appendSources(to: FileHandle, sources: readonly Source[], shutdown: AbortSignal): Promise<void> {
  for (let start = 0; start < sources.length; start += BATCH) {
    const batch = sources.slice(start, start + BATCH)
    const opened = await Promise.allSettled(batch.map(openSource))
    try {
      for (const [index, source] of batch.entries()) {
        const file = opened[index]
        if (file?.status !== 'fulfilled') throw file?.reason
        await append(to, { ...source, file: file.value }, shutdown)
      }
    } finally {
      await Promise.allSettled(opened.filter((file) => file.status === 'fulfilled').map((file) => file.value.close()))
    }
  }
}

async function append(to: FileHandle, source: Source & { readonly file: FileHandle }, shutdown: AbortSignal): Promise<void> {
  const { given, path, file } = source
  try {
    // fstat of an open file is answered from memory.
    const found = fstatSync(file.fd)
    if (!found.isFile()) throw notRegular(given)
    await copyContent({ from: file, to, size: found.size, beforeShare: () => shutdown.throwIfAborted() })
  } catch (error) {
    if (error instanceof AppError) throw error
    if (isOutOfSpace(error)) throw outOfSpace(error)
    throw internal(`error composing source ${path}`, failedCall('copy', path, error), error)
  }
}

async function openSource({ given, path }: Source): Promise<FileHandle> {
  try {
    return await open(path, SOURCE_FLAGS)
  } catch (error) {
    // It was removed after the checks: the answer is the same as if it had been missing then (envd.md 18.27).
    if (['ENOENT', 'ENOTDIR'].includes(errnoCode(error))) throw sourceNotFound(given, error)
    throw internal(`error opening source file ${path}`, failedCall('open', path, error), error)
  }
}
