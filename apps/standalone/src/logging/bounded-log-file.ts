/**
 * A log file of bounded size. When it exceeds `maxBytes`, it is renamed to `<file>.1` and replaces the one before.
 *
 * Written by hand because each line must be in the file when `write` returns: the last lines before a crash or `process.exit`
 * matter most. `rotating-file-stream` buffers lines in a stream, loses them then, and has no cap when the disk is slow.
 */
import { closeSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024
/** A longer line is written in parts. */
const MAX_PENDING_BYTES = 64 * 1024

export class BoundedLogFile implements DestinationStream, Disposable {
  readonly #file: string
  readonly #maxBytes: number
  #descriptor: number
  #size: number
  #pending = Buffer.alloc(0)

  constructor(file: string, maxBytes = DEFAULT_MAX_BYTES) {
    this.#file = file
    this.#maxBytes = maxBytes
    rotateFile(file, maxBytes)
    this.#descriptor = openSync(file, 'a', 0o600)
    this.#size = statSync(file).size
  }

  /** A line that cannot be written (a full disk) is dropped, because the log must not end the server. */
  write(line: string | Uint8Array): void {
    try {
      this.#size += writeSync(this.#descriptor, line as string)
      if (this.#size <= this.#maxBytes) return
      rotateFile(this.#file, this.#maxBytes)
      // The new file is opened before the old one is closed, so that a failure does not leave a closed descriptor.
      const next = openSync(this.#file, 'a', 0o600)
      closeSync(this.#descriptor)
      this.#descriptor = next
      this.#size = 0
    } catch {
      // See above.
    }
  }

  /** Writes the complete lines of another process. An incomplete line waits for its end, so that lines of two processes do not mix. */
  writeChunk(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#pending, chunk])
    const end = bytes.length > MAX_PENDING_BYTES ? bytes.length : bytes.lastIndexOf('\n') + 1
    if (end > 0) this.write(bytes.subarray(0, end))
    this.#pending = bytes.subarray(end)
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor)
  }
}

/** Renames a file that exceeds `maxBytes` to `<file>.1`, which it replaces. */
export function rotateFile(file: string, maxBytes: number): void {
  try {
    if (statSync(file).size > maxBytes) renameSync(file, `${file}.1`)
  } catch {
    // The file does not exist yet.
  }
}
