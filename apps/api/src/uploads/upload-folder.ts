import { constants } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat, statfs, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomId } from '@sandyard/kit/ids/ids'
import { isUuid } from '@sandyard/kit/ids/uuid'
import type { UploadKey } from './upload-link.ts'

const HASH = /^[0-9a-f]{64}$/
const INCOMING = 'incoming'
const SUFFIX = '.tar'

/** A file that is being written. */
export interface IncomingFile {
  readonly path: string
  readonly handle: FileHandle
}

/**
 * The files of uploads: `<team>/<hash>.tar`, and unfinished ones under `incoming`. Other accounts of the host have no access. Paths contain
 * checked ids only.
 */
export class UploadFolder {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /** @throws Error for a key that is not a team id and a hash */
  pathOf({ teamId, hash }: UploadKey): string {
    if (!isUuid(teamId) || !HASH.test(hash)) throw new Error('an upload has no valid key')
    return join(this.#root, teamId, `${hash}${SUFFIX}`)
  }

  async createIncoming(): Promise<IncomingFile> {
    const directory = join(this.#root, INCOMING)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, randomId(20))
    return { path, handle: await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600) }
  }

  /** Moves a synced file to its final path. It replaces an earlier file atomically. */
  async accept(incoming: string, key: UploadKey): Promise<void> {
    const path = this.pathOf(key)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rename(incoming, path)
    await syncDirectory(dirname(path))
  }

  /** Undefined when the file does not exist. */
  async open(key: UploadKey): Promise<FileHandle | undefined> {
    return orAbsent(open(this.pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW))
  }

  async exists(key: UploadKey): Promise<boolean> {
    return (await orAbsent(stat(this.pathOf(key)))) !== undefined
  }

  /** Succeeds also when the file does not exist. */
  async remove(key: UploadKey): Promise<void> {
    await rm(this.pathOf(key), { force: true })
  }

  /** The keys of all files. */
  async list(): Promise<UploadKey[]> {
    const teams = (await readNames(this.#root)).filter((name) => isUuid(name))
    const keys: UploadKey[] = []
    for (const teamId of teams) {
      const hashes = (await readNames(join(this.#root, teamId)))
        .filter((name) => name.endsWith(SUFFIX))
        .map((name) => name.slice(0, -SUFFIX.length))
      keys.push(...hashes.filter((hash) => HASH.test(hash)).map((hash) => ({ teamId, hash })))
    }
    return keys
  }

  /** Whether a file was last written before a time in milliseconds; false when it does not exist. */
  async isOlder(key: UploadKey, before: number): Promise<boolean> {
    return isOlder(this.pathOf(key), before)
  }

  /** Removes unfinished uploads that were last written before a time in milliseconds. */
  async removeIncoming(before: number): Promise<void> {
    const directory = join(this.#root, INCOMING)
    for (const name of await readNames(directory)) {
      const path = join(directory, name)
      if (await isOlder(path, before)) await rm(path, { force: true })
    }
  }

  /** The free space of the disk. */
  async freeBytes(): Promise<number> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const { bavail, bsize } = await statfs(this.#root)
    return bavail * bsize
  }
}

/** A rename survives a crash after its directory was synced. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readNames(directory: string): Promise<string[]> {
  return (await orAbsent(readdir(directory))) ?? []
}

async function isOlder(path: string, before: number): Promise<boolean> {
  const found = await orAbsent(stat(path))
  return found !== undefined && found.mtimeMs < before
}

async function orAbsent<T>(opening: Promise<T>): Promise<T | undefined> {
  try {
    return await opening
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw err
  }
}
