import { lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { at, type Image } from '../image.ts'
import { ensureDirectory, type OwnerIds } from '../make-directory.ts'
import type { Destination } from './destination.ts'
import type { FoundSource } from './find-source.ts'
import { move } from './move.ts'

export interface Placement {
  readonly source: FoundSource
  readonly destination: Destination
  /** The owner of parent directories that are created. */
  readonly owner: OwnerIds
}

/**
 * Moves the unpacked source to its destination. Of a directory the contents are moved, and existing directories keep their owner and mode. A file
 * or a link keeps its name if the destination is a directory.
 */
export function placeSource(image: Image, { source, destination, owner }: Placement): void {
  if (source.kind === 'directory') {
    ensureDirectory(image, destination.path, owner)
    mergeInto(image, source.file, destination.path)
    return
  }
  const isInto = destination.isDirectory || isDirectory(at(image, destination.path))
  const path = isInto ? posix.join(destination.path, source.name) : destination.path
  ensureDirectory(image, posix.dirname(path), owner)
  put(image, source.file, path)
}

function mergeInto(image: Image, from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [posix.join(from, entry.name), posix.join(to, entry.name)]
    if (entry.isDirectory() && isDirectory(at(image, target))) mergeInto(image, source, target)
    else put(image, source, target)
  }
}

/** A file may replace a file or a link but no directory; a directory may replace a link only. */
function put(image: Image, from: string, to: string): void {
  const existing = lstatSync(at(image, to), { throwIfNoEntry: false })
  const comesAsDirectory = lstatSync(from).isDirectory()
  if (existing?.isDirectory() === true)
    throw new AppError('failed_precondition', `'${to}' is a directory, and a file cannot take its place`)
  if (comesAsDirectory && existing?.isSymbolicLink() === true) unlinkSync(at(image, to))
  else if (comesAsDirectory && existing !== undefined) {
    throw new AppError('failed_precondition', `'${to}' is a file, and a directory cannot take its place`)
  }
  move(from, at(image, to))
}

/** Links are followed. */
function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
