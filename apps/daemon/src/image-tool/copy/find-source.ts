import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { sourceCandidates } from './source-path.ts'

/** The source of a COPY in the unpacked archive. */
export interface FoundSource {
  readonly file: string
  /** Its last name; empty for the archive's root. */
  readonly name: string
  readonly kind: 'directory' | 'file' | 'symlink'
}

/** @throws AppError `not_found` with the sentence for the log */
export function findSource(staging: string, source: string): FoundSource {
  for (const candidate of sourceCandidates(source)) {
    const kind = findKind(staging, candidate)
    if (kind !== undefined) return { file: join(staging, candidate), name: candidate.slice(candidate.lastIndexOf('/') + 1), kind }
  }
  throw new AppError('not_found', `'${source}' is not in the archive of the step`)
}

/** Checks every level, because one may be a link that leads out of the archive. */
function findKind(staging: string, path: string): FoundSource['kind'] | undefined {
  let file = staging
  let kind: FoundSource['kind'] = 'directory'
  for (const segment of path === '' ? [] : path.split('/')) {
    if (kind !== 'directory') return undefined
    file = join(file, segment)
    const entry = lstatSync(file, { throwIfNoEntry: false })
    if (entry === undefined) return undefined
    kind = entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'file'
  }
  return kind
}
