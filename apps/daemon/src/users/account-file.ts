import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/**
 * A file that changed less than this before a read is read again by the next call: a later change may have the same time stamps, since the
 * kernel's clock ticks every few ms.
 */
const UNSETTLED_MS = 1000

/**
 * An account file whose parsed content is cached. Each call checks with a stat whether the file has changed, and reads it again if so.
 * A missing file counts as empty.
 */
export class AccountFile<T> {
  readonly #path: string
  readonly #parse: (text: string) => T
  #remembered: { readonly stamp: string; readonly value: T } | undefined

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path
    this.#parse = parse
  }

  /** @throws the system error if the file exists and cannot be read */
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
