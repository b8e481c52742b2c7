import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A change within this time of a read may leave the file's time stamps as they were (kernel clock ticks are a few ms). */
const UNSETTLED_MS = 1000

/**
 * One account file, read afresh whenever it changed: a change is seen by the next call, without a read for each call.
 * A file that is not there counts as empty.
 */
export class AccountFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  #remembered: { readonly stamp: string; readonly value: T } | undefined

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path
    this.#parse = parse
  }

  /** @throws the file system's error when the file is there and cannot be read */
  async read(): Promise<T> {
    // Every command calls this; a stat on this thread takes less time than a call on the thread pool.
    const file = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    if (file === undefined) return this.#parse('')
    const stamp = `${file.dev}:${file.ino}:${file.size}:${file.mtimeNs}:${file.ctimeNs}`
    if (this.#remembered?.stamp === stamp) return this.#remembered.value

    const value = this.#parse(await readFile(this.#path, 'utf8'))
    const settled = Date.now() - Number(file.ctimeNs / 1_000_000n) > UNSETTLED_MS
    this.#remembered = settled ? { stamp, value } : undefined
    return value
  }
}
