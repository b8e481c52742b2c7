import {
  chmodSync,
  chownSync,
  closeSync,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { refuseName } from '@sandyard/kit/archive/entry-name'
import type { ArchiveMember } from '@sandyard/kit/archive/read-archive'
import { errnoCode } from '../../sys/errno-text.ts'
import type { OwnerIds } from '../make-directory.ts'

export interface UnpackedOwner extends OwnerIds {
  /** Instead of the modes of the archive. */
  readonly mode: number | undefined
}

const IMPLIED_MODE = 0o755

/**
 * Unpacks into an empty directory that only root can access. Directories are created one level at a time and remembered, so no link of the
 * archive is ever followed. A repeated entry is refused.
 */
export async function unpack(staging: string, members: AsyncIterable<ArchiveMember>, owner: UnpackedOwner): Promise<void> {
  const unpacking = new Unpacking(staging, owner)
  for await (const member of members) await unpacking.add(member)
  unpacking.finish()
}

class Unpacking {
  readonly #staging: string
  readonly #owner: UnpackedOwner
  /** All directories, with their modification times if the archive has them. */
  readonly #directories: Map<string, Date | undefined>

  constructor(staging: string, owner: UnpackedOwner) {
    this.#staging = staging
    this.#owner = owner
    this.#directories = new Map([[staging, undefined]])
  }

  async add(member: ArchiveMember): Promise<void> {
    const { entry, mode, modifiedAt } = member
    const path = join(this.#staging, entry.path)
    this.#ensureParent(entry.path, path)
    try {
      if (entry.kind === 'directory') this.#addDirectory(path, mode, modifiedAt)
      else if (entry.kind === 'file') await this.#addFile(path, member)
      else if (entry.kind === 'symlink') this.#addSymlink(path, entry.target, modifiedAt)
      else this.#addLink(path, entry.target)
    } catch (error) {
      if (errnoCode(error) === 'EEXIST') refuseName(entry.path, 'is in it twice')
      throw error
    }
  }

  /** Sets the times of directories last, because each new entry changes them. */
  finish(): void {
    for (const [path, modifiedAt] of this.#directories) {
      if (isTime(modifiedAt)) utimesSync(path, modifiedAt, modifiedAt)
    }
  }

  #addDirectory(path: string, mode: number, modifiedAt: Date | undefined): void {
    this.#ensureDirectory(path)
    if (path === this.#staging) return
    chmodSync(path, this.#owner.mode ?? mode)
    this.#directories.set(path, modifiedAt)
  }

  async #addFile(path: string, { content, mode, modifiedAt }: ArchiveMember): Promise<void> {
    const file = openSync(path, 'wx', 0o600)
    try {
      for await (const chunk of content) writeAll(file, chunk)
      // In this order: chown clears mode bits.
      fchownSync(file, this.#owner.uid, this.#owner.gid)
      fchmodSync(file, this.#owner.mode ?? mode)
      if (isTime(modifiedAt)) futimesSync(file, modifiedAt, modifiedAt)
    } finally {
      closeSync(file)
    }
  }

  #addSymlink(path: string, target: string, modifiedAt: Date | undefined): void {
    symlinkSync(target, path)
    lchownSync(path, this.#owner.uid, this.#owner.gid)
    if (isTime(modifiedAt)) lutimesSync(path, modifiedAt, modifiedAt)
  }

  #addLink(path: string, target: string): void {
    const source = join(this.#staging, target)
    if (!this.#directories.has(dirname(source)) || lstatSync(source, { throwIfNoEntry: false })?.isFile() !== true) {
      refuseName(path.slice(this.#staging.length + 1), 'is a hard link to no file that the archive had before it')
    }
    linkSync(source, path)
  }

  #ensureParent(name: string, path: string): void {
    if (path === this.#staging) return
    try {
      this.#ensureDirectory(dirname(path))
    } catch (error) {
      if (errnoCode(error) === 'EEXIST') refuseName(name, 'is below something that is no directory')
      throw error
    }
  }

  #ensureDirectory(path: string): void {
    if (this.#directories.has(path)) return
    this.#ensureDirectory(dirname(path))
    mkdirSync(path)
    chownSync(path, this.#owner.uid, this.#owner.gid)
    chmodSync(path, this.#owner.mode ?? IMPLIED_MODE)
    this.#directories.set(path, undefined)
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done)
}

function isTime(date: Date | undefined): date is Date {
  return date !== undefined && Number.isFinite(date.getTime())
}
