/**
 * What a tar archive of unknown origin may have in it. Pure: given the headers in order it decides about each entry, so that the server
 * that takes an archive in and the program that unpacks it refuse the same ones.
 */
import { AppError } from '../errors/app-error.ts'
import { parseEntryName, quoteName, refuseName } from './entry-name.ts'
import { LinkTree } from './link-tree.ts'

export interface ArchiveLimits {
  /** Of the whole unpacked archive, its headers included. */
  readonly maxBytes: number
  readonly maxEntries: number
}

export const ARCHIVE_LIMITS: ArchiveLimits = { maxBytes: 8 * 1024 ** 3, maxEntries: 1_000_000 }

/** Paths of symbolic links have to be remembered to the end of the archive. */
const MAX_REMEMBERED_BYTES = 64 * 1024 ** 2
const MAX_TARGET_BYTES = 4095
const BLOCK_BYTES = 512
/** Of long names and the like that come before entries, for the archive and for each entry: taking them apart costs far more than their bytes. */
const MAX_EXTRA_BYTES = 8 * 1024 ** 2
const EXTRA_BYTES_PER_ENTRY = 4 * 1024
/** Each costs far more to take apart than its bytes; what packs archives writes a dozen. */
const MAX_ATTRIBUTES = 64

/** What tar-stream says of an entry. */
export interface EntryHeader {
  readonly name: string
  /** Null for what it knows no word for. */
  readonly type?: string | null
  readonly linkname?: string | null | undefined
  readonly size?: number | undefined
  readonly pax?: Readonly<Record<string, string>> | null | undefined
}

export type ArchiveEntry =
  | { readonly kind: 'file'; readonly path: string; readonly size: number }
  /** The path of the archive's own root is empty. */
  | { readonly kind: 'directory'; readonly path: string }
  /** A symbolic link to wherever it likes. */
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  /** A further name of a file that the archive had before, by that file's path. */
  | { readonly kind: 'link'; readonly path: string; readonly target: string }

const UNPACKABLE: Readonly<Record<string, string>> = {
  'character-device': 'is a device',
  'block-device': 'is a device',
  fifo: 'is a named pipe',
}

/** The rules for one archive. */
export class EntryRules {
  readonly #limits: ArchiveLimits
  readonly #symlinks = new LinkTree()
  #entries = 0
  #bytes = 0
  #unpackedBytes = 0

  constructor(limits: ArchiveLimits = ARCHIVE_LIMITS) {
    this.#limits = limits
  }

  /**
   * Counts bytes of the unpacked archive as they come, of which every reader gets a little ahead.
   *
   * @throws AppError `invalid_argument` with the sentence for the user
   */
  count(bytes: number): void {
    this.#unpackedBytes += bytes
    if (this.#unpackedBytes > this.#limits.maxBytes) this.#refuseSize()
    const extra = this.#unpackedBytes - this.#bytes
    if (extra > MAX_EXTRA_BYTES + this.#entries * EXTRA_BYTES_PER_ENTRY) refuse('it is made of more than its entries')
  }

  /**
   * Paths come back relative, without `.` and `..` and doubled slashes. Undefined for an entry below a symbolic link of the same archive:
   * the e2b package for JavaScript packs the files behind a link to a directory next to the link. The link is what counts, and nothing is
   * ever written through it.
   *
   * @throws AppError `invalid_argument` with the sentence for the user
   */
  accept(header: EntryHeader): ArchiveEntry | undefined {
    this.#countEntry(header)
    const entry = toEntry(header)
    const relation = this.#symlinks.find(entry.path)
    if (relation === 'below') return undefined
    if (relation === 'link') refuseName(entry.path, 'is in it twice')
    if (entry.kind === 'symlink') this.#remember(entry.path)
    if (entry.kind === 'link' && this.#symlinks.find(entry.target) !== undefined) {
      refuseName(entry.path, `is a hard link through the symbolic link ${quoteName(entry.target)}`)
    }
    return entry
  }

  #countEntry({ name, size = 0, pax }: EntryHeader): void {
    this.#entries += 1
    if (this.#entries > this.#limits.maxEntries) refuse(`it has more than ${this.#limits.maxEntries} entries`)
    if (!Number.isSafeInteger(size) || size < 0) refuseName(name, 'has no valid size')
    this.#bytes += BLOCK_BYTES + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
    if (this.#bytes > this.#limits.maxBytes) this.#refuseSize()
    if (Object.keys(pax ?? {}).length > MAX_ATTRIBUTES) refuseName(name, `has more than ${MAX_ATTRIBUTES} attributes`)
  }

  #refuseSize(): never {
    refuse(`it unpacks to more than ${this.#limits.maxBytes} bytes`)
  }

  #remember(path: string): void {
    this.#symlinks.add(path)
    if (this.#symlinks.bytes > MAX_REMEMBERED_BYTES) refuse('it has too many symbolic links')
  }
}

function toEntry(header: EntryHeader): ArchiveEntry {
  const path = parseEntryName(header.name)
  if (path === '' && header.type !== 'directory') refuseName(header.name, 'has no name of its own')
  const type: string = header.type ?? ''
  switch (type) {
    case 'file':
    case 'contiguous-file':
      if (isSparse(header)) refuseName(path, 'is a sparse file, which is not supported')
      return { kind: 'file', path, size: header.size ?? 0 }
    case 'directory':
      return { kind: 'directory', path }
    case 'symlink':
      return { kind: 'symlink', path, target: checkTarget(path, header.linkname ?? '') }
    case 'link':
      return { kind: 'link', path, target: parseEntryName(header.linkname ?? '') || refuseName(path, 'is a hard link to nothing') }
    default:
      return refuseName(path, UNPACKABLE[type] ?? 'is of a kind that is not supported')
  }
}

function checkTarget(path: string, target: string): string {
  if (target === '') refuseName(path, 'is a symbolic link to nothing')
  if (target.includes('\0') || Buffer.byteLength(target) > MAX_TARGET_BYTES)
    refuseName(path, 'is a symbolic link with an impossible target')
  return target
}

function isSparse({ pax }: EntryHeader): boolean {
  return Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.'))
}

function refuse(reason: string): never {
  throw new AppError('invalid_argument', `the archive was refused: ${reason}`)
}
