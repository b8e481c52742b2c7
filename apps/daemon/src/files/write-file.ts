import { AppError } from '@sandyard/kit/errors/app-error'
import type { BigIntStats } from 'node:fs'
import { MetadataFailure, readMetadata, replaceMetadata } from '../filesystem/metadata.ts'
import { mayHaveAttributes } from '../filesystem/metadata-probe.ts'
import { lookAt } from '../sys/cached-stat.ts'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import { ensureDirs, type Owner } from '../users/ensure-dirs.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { baseName, parentDirectory } from '../users/path-parts.ts'
import { copyToFile } from './copy-to-file.ts'
import { isOutOfSpace, TargetFile } from './target-file.ts'

/** The content of a file: all of it, if all of it has arrived. */
export type FileBody = Buffer | AsyncIterable<Buffer>

/** A written file, as the answer to an upload names it. */
export interface WrittenFile {
  readonly path: string
  readonly name: string
  readonly type: 'file'
  readonly metadata?: Readonly<Record<string, string>>
}

export interface WriteOptions {
  readonly owner: Owner
  readonly metadata: ReadonlyMap<string, string>
  /** Of the request; used in the message for a full disk only. */
  readonly contentLength: number
}

/**
 * Writes a file in place, links followed (envd.md 5.7). Watchers see each step, so the order of the calls is part of the contract: a new
 * small file is exactly CREATE, CHMOD, WRITE. A failure keeps what was written.
 *
 * @throws AppError with the texts of envd.md 5.7
 */
export async function writeFile(path: string, body: FileBody, options: WriteOptions): Promise<WrittenFile> {
  const { owner, metadata } = options
  const existing = await findTarget(path, owner)
  const whole = Buffer.isBuffer(body) ? body : undefined
  const file = await TargetFile.open(path, existing, { owner, bytes: whole?.length })
  try {
    await copyToFile(file, body, path).catch((error: unknown) => {
      throw writeFailure(error, options.contentLength)
    })
    // A file that is new or has no attributes has no metadata to clear.
    const isClear = existing === undefined || !(await mayHaveAttributes(pathArgument(path), existing.dev))
    if (!isClear || metadata.size > 0) await writeMetadata(file, metadata, path)
    const stored = metadata.size > 0 ? await readMetadata(file.fd) : {}
    const text = path.toWellFormed()
    return { path: text, name: baseName(text), type: 'file', ...(Object.keys(stored).length > 0 && { metadata: stored }) }
  } finally {
    await file.close()
  }
}

/** The file to overwrite, if any. Creates missing parent directories, which an existing file cannot lack. */
async function findTarget(path: string, owner: Owner): Promise<BigIntStats | undefined> {
  const stat = () => lookAt(pathArgument(path), { follow: true }).catch((error: Error) => error)
  const found = await stat()
  const target = found instanceof Error && (await ensureParent(path, owner)) ? await stat() : found
  if (target instanceof Error) {
    if (errnoCode(target) === 'ENOENT') return undefined
    throw new AppError('internal', `error getting file info: ${failedCall('stat', path, target)}`, { cause: target })
  }
  if (target.isDirectory()) throw new AppError('invalid_argument', `path is a directory: ${path}`)
  // These may never have a reader.
  if (target.isFIFO() || target.isSocket()) throw new AppError('invalid_argument', `path is not a regular file: ${path}`)
  return target
}

/** @returns whether a directory was created */
async function ensureParent(path: string, owner: Owner): Promise<boolean> {
  try {
    return await ensureDirs(parentDirectory(path), owner)
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.kind, `error ensuring directories: ${error.message}`, { cause: error })
    throw error
  }
}

function writeFailure(error: unknown, contentLength: number): Error {
  if (isOutOfSpace(error instanceof Error ? error.cause : undefined)) {
    const attempt = contentLength > 0 ? `attempted to write ${contentLength} bytes: ` : ''
    return new AppError('insufficient_storage', `${attempt}not enough disk space available`, { cause: error })
  }
  return new AppError('internal', `error writing file: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
}

async function writeMetadata({ fd }: TargetFile, metadata: ReadonlyMap<string, string>, path: string): Promise<void> {
  try {
    await replaceMetadata(fd, metadata)
  } catch (error) {
    if (!(error instanceof MetadataFailure)) throw error
    const text = failedCall(error.call, error.attribute === undefined ? path : [path, error.attribute], error.cause)
    if (isOutOfSpace(error.cause))
      throw new AppError('insufficient_storage', `not enough space for file metadata: ${text}`, { cause: error })
    throw new AppError('internal', `error writing file metadata: ${text}`, { cause: error })
  }
}
