/**
 * The step COPY (control-plane.md 11.5): unpacks an archive into a private directory and, after all of it has been accepted, moves the
 * source into the image.
 */
import { createReadStream, lstatSync, mkdtempSync, rmSync } from 'node:fs'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import { readArchive } from '@sandyard/kit/archive/read-archive'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getUser } from '../accounts/image-accounts.ts'
import { at, BUILD_PREFIX, type Image } from '../image.ts'
import { resolveDestination } from './destination.ts'
import { findSource } from './find-source.ts'
import { parseMode, resolveOwner } from './owner.ts'
import { placeSource } from './place-source.ts'
import { unpack } from './unpack.ts'

export interface CopyRequest {
  /** A tar file in the sandbox, plain or gzip. It is removed, also on failure. */
  readonly archive: string
  /** The part of the archive to copy: a path or a pattern as the client has it. */
  readonly source: string
  readonly destination: string
  readonly workdir: string | undefined
  /** The account of the step. */
  readonly user: string
  /** Empty for that account and its group. */
  readonly owner: string
  /** Octal; empty for the modes of the archive. */
  readonly mode: string
  readonly limits: ArchiveLimits
}

const READ_BYTES = 1024 * 1024

/** @throws AppError with the sentence for the log; the file system's errors */
export async function copy(image: Image, request: CopyRequest): Promise<void> {
  const archive = at(image, request.archive)
  // On the file system of most destinations, and accessible to root only.
  const staging = mkdtempSync(at(image, `${BUILD_PREFIX}unpacked-`))
  try {
    const owner = { ...resolveOwner(image, request), mode: parseMode(request.mode) }
    const destination = resolveDestination({ ...request, home: getUser(image, request.user).home })
    if (lstatSync(archive, { throwIfNoEntry: false }) === undefined) throw new AppError('not_found', 'the archive of the step is not there')
    await unpack(staging, readArchive(createReadStream(archive, { highWaterMark: READ_BYTES }), request.limits), owner)
    placeSource(image, { source: findSource(staging, request.source), destination, owner })
  } finally {
    rmSync(staging, { recursive: true, force: true })
    rmSync(archive, { force: true })
  }
}
