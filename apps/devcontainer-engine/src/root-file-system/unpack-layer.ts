import { createReadStream, createWriteStream } from 'node:fs'
import { chmod, lchown, link, lstat, lutimes, mkdir, readdir, rm, symlink, utimes } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { AppError } from '@sandyard/kit/errors/app-error'
import { extract, type Header } from 'tar-stream'
import { resolveInRoot } from './resolve-in-root.ts'

const WHITEOUT = '.wh.'
const OPAQUE = '.wh..wh..opq'
const MAX_ENTRIES = 2_000_000
const LEFT_OUT = ['character-device', 'block-device', 'fifo']

/** What an image may unpack to, all layers together. */
export class UnpackBudget {
  #bytes: number
  constructor(bytes: number) {
    this.#bytes = bytes
  }

  take(bytes: number): void {
    this.#bytes -= bytes
    if (this.#bytes < 0) throw new AppError('resource_exhausted', 'The image is too large to unpack')
  }
}

/**
 * Adds one layer of an image to the root file system. Device files are left out, because a sandbox may make none: processes see those of the sandbox.
 * Named pipes and extended attributes are left out too.
 */
export async function unpackLayer(
  file: string,
  mediaType: string,
  { root, budget }: { root: string; budget: UnpackBudget },
): Promise<void> {
  const entries = extract()
  const done = pipeline([createReadStream(file), ...decompressorsOf(mediaType), entries])
  const layer = new Layer(root)
  let count = 0
  try {
    for await (const entry of entries) {
      if (++count > MAX_ENTRIES) throw new AppError('resource_exhausted', 'A layer of the image has too many files')
      budget.take(entry.header.size)
      await layer.add(entry.header, entry)
      entry.resume()
    }
    await done
  } catch (err) {
    entries.destroy()
    await done.catch(() => {})
    throw err
  }
  await layer.finish()
}

function decompressorsOf(mediaType: string): NodeJS.ReadWriteStream[] {
  if (/[.+]gzip$/.test(mediaType)) return [createGunzip()]
  if (mediaType.endsWith('+zstd')) return [createZstdDecompress()]
  if (mediaType.endsWith('.tar')) return []
  throw new AppError('unimplemented', `The image has a layer of an unknown kind: ${mediaType}`)
}

class Layer {
  readonly #root: string
  /** Paths outside that this layer brought: an opaque mark hides only what is from layers below. */
  readonly #own = new Set<string>()
  /** Their times are set at the end: each new file in them would change them again. */
  readonly #folderTimes = new Map<string, Date>()

  constructor(root: string) {
    this.#root = root
  }

  async add(header: Header, content: AsyncIterable<unknown>): Promise<void> {
    const path = await resolveInRoot(this.#root, header.name, { followLast: false, makeParents: true })
    const name = basename(path)
    if (name === OPAQUE) await this.#hideBelow(dirname(path))
    else if (name.startsWith(WHITEOUT)) await hide(dirname(path), name.slice(WHITEOUT.length))
    else if (await this.#make(path, header, content)) {
      for (let at = path; at.startsWith(this.#root) && !this.#own.has(at); at = dirname(at)) this.#own.add(at)
    }
  }

  async finish(): Promise<void> {
    for (const [path, time] of this.#folderTimes) {
      // A later entry may have put a link in the place of the folder, or of one above it.
      const place = await resolveInRoot(this.#root, relative(this.#root, path), { followLast: false })
      if (place === path) await lutimes(path, time, time).catch(() => {})
    }
  }

  async #hideBelow(folder: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name)
      if (!this.#own.has(path)) await rm(path, { recursive: true, force: true })
      else if (entry.isDirectory()) await this.#hideBelow(path)
    }
  }

  /** @returns false for what is left out */
  async #make(path: string, header: Header, content: AsyncIterable<unknown>): Promise<boolean> {
    const { type, linkname, uid, gid, mode, mtime } = header
    // Its content is not the content of the file.
    if (Object.hasOwn(header.pax ?? {}, 'GNU.sparse.major')) throw unknownEntry(header)
    const existing = await lstat(path).catch(() => undefined)
    const keepsFolder = type === 'directory' && existing?.isDirectory() === true
    if (existing !== undefined && !keepsFolder && path !== this.#root) await rm(path, { recursive: true, force: true })
    if (type === 'directory') {
      if (!keepsFolder) await mkdir(path, { recursive: true })
      this.#folderTimes.set(path, mtime)
    } else if (type === 'symlink') {
      await symlink(linkname, path)
      await lchown(path, uid, gid)
      return true
    } else if (type === 'link') {
      await link(await resolveInRoot(this.#root, linkname, { followLast: false }), path)
      return true
    } else if (type === 'file' || type === 'contiguous-file') {
      await pipeline(content, createWriteStream(path, { flags: 'wx' }))
    } else if (type !== null && LEFT_OUT.includes(type)) return false
    else throw unknownEntry(header)
    await lchown(path, uid, gid)
    // After the change of the owner, which takes set-uid bits away.
    await chmod(path, mode & 0o7777)
    if (type !== 'directory') await utimes(path, mtime, mtime)
    return true
  }
}

function unknownEntry({ name }: Header): AppError {
  return new AppError('unimplemented', `A layer of the image has an entry of an unknown kind: ${name}`)
}

async function hide(folder: string, name: string): Promise<void> {
  if (['', '.', '..'].includes(name))
    throw new AppError('invalid_argument', `A layer of the image takes away '${name}', which names no file`)
  await rm(join(folder, name), { recursive: true, force: true })
}
