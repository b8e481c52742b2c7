import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { rotateFile } from '../data/rotate-file.ts'

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024

/**
 * A log file of bounded size: past `maxBytes` it becomes `<file>.1`, over the one before it. Lines are written at once, so a
 * crash loses none. A line that cannot be written (a full disk) is dropped: the log must not end the server.
 */
export class BoundedLogFile implements DestinationStream, Disposable {
  readonly #file: string
  readonly #maxBytes: number
  #descriptor: number
  #size: number

  constructor(file: string, maxBytes = DEFAULT_MAX_BYTES) {
    this.#file = file
    this.#maxBytes = maxBytes
    rotateFile(file, maxBytes)
    this.#descriptor = openSync(file, 'a', 0o600)
    this.#size = statSync(file).size
  }

  write(line: string): void {
    try {
      this.#size += writeSync(this.#descriptor, line)
      if (this.#size <= this.#maxBytes) return
      closeSync(this.#descriptor)
      rotateFile(this.#file, this.#maxBytes)
      this.#descriptor = openSync(this.#file, 'a', 0o600)
      this.#size = 0
    } catch {
      // See above.
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor)
  }
}
