import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import type { Secret } from '@sandyard/kit/config/secret'
import { randomId } from '@sandyard/kit/ids/ids'
import { encrypt } from './encryption.ts'
import { describeWriteFailure } from './file-failure.ts'
import { partName, toParts } from './parts.ts'

/** What was stored under a name. */
export interface EntrySum {
  readonly name: string
  readonly size: number
  readonly sha256: string
}

const MODE = 0o600
/** Nothing has been written to it for longer than a running backup waits for the engine or the database. */
const ABANDONED_MS = 12 * 3_600_000

/**
 * Writes an archive to `<file>.<random>.partial` and gives it its name at the end, so a file with the name is complete, also when several are
 * written at once. Only its owner can read it. Disposing before `finish` removes the partial file.
 */
export class ArchiveWriter implements AsyncDisposable {
  readonly #file: string
  readonly #partial: string
  readonly #pack = pack()
  readonly #written: Promise<void>
  readonly #entries: EntrySum[] = []
  #isFinished = false

  private constructor(file: string, passphrase: Secret | undefined) {
    this.#file = file
    this.#partial = `${file}.${randomId(8)}.partial`
    // A failure of the file destroys the pack too; it is reported by `#written`.
    this.#pack.on('error', () => undefined)
    const bytes = Readable.from(this.#pack)
    const target = createWriteStream(this.#partial, { flags: 'wx', mode: MODE, flush: true })
    const written = passphrase === undefined ? pipeline(bytes, target) : pipeline(bytes, (source) => encrypt(source, passphrase), target)
    this.#written = written.catch((err: unknown) => {
      throw describeWriteFailure(err, file)
    })
    // Who waits for an entry or for the end gets the failure.
    this.#written.catch(() => undefined)
  }

  /** Partial files of backups that were killed long ago are removed. */
  static async create(file: string, passphrase?: Secret): Promise<ArchiveWriter> {
    try {
      await removeAbandoned(file)
    } catch (err) {
      throw describeWriteFailure(err, file)
    }
    return new ArchiveWriter(file, passphrase)
  }

  get entries(): readonly EntrySum[] {
    return this.#entries
  }

  /**
   * Stores everything that a source yields. Reads it no faster than it can be written.
   *
   * @throws AppError `insufficient_storage` for a full disk; `failed_precondition`; the source's failure
   */
  async add(name: string, chunks: AsyncIterable<Uint8Array>): Promise<EntrySum> {
    const hash = createHash('sha256')
    let size = 0
    let number = 0
    for await (const part of toParts(chunks)) {
      hash.update(part)
      size += part.length
      number += 1
      await this.#put(partName(name, number), part)
    }
    const entry = { name, size, sha256: hash.digest('hex') }
    this.#entries.push(entry)
    return entry
  }

  /** Stores the last entry, flushes the file and gives it its name. */
  async finish(name: string, text: string): Promise<void> {
    await this.add(name, Readable.from([Buffer.from(text)]))
    if (!this.#pack.destroyed) this.#pack.finalize()
    await this.#written
    try {
      await rename(this.#partial, this.#file)
      this.#isFinished = true
      await syncFolder(dirname(this.#file))
    } catch (err) {
      throw describeWriteFailure(err, this.#file)
    }
  }

  async #put(name: string, bytes: Buffer): Promise<void> {
    if (this.#pack.destroyed) await this.#written
    const stored = new Promise<boolean>((resolve) => {
      this.#pack.entry({ name, mode: MODE }, bytes, (err) => resolve(!err)).on('error', () => resolve(false))
    })
    if ((await Promise.race([stored, this.#written])) !== true) await this.#written
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isFinished) return
    this.#pack.destroy()
    await this.#written.catch(() => undefined)
    await rm(this.#partial, { force: true })
  }
}

async function removeAbandoned(file: string): Promise<void> {
  const prefix = `${basename(file)}.`
  for (const name of await readdir(dirname(file))) {
    if (!name.startsWith(prefix) || !/^[a-z0-9]{8}\.partial$/.test(name.slice(prefix.length))) continue
    const partial = join(dirname(file), name)
    const { mtimeMs } = await stat(partial).catch(() => ({ mtimeMs: Date.now() }))
    if (mtimeMs < Date.now() - ABANDONED_MS) await rm(partial, { force: true })
  }
}

/** Without this the name may be lost after a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
