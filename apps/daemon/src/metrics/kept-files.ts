import { closeSync, openSync, readSync } from 'node:fs'

/** More than any of the kernel's files about a control group has. */
const MAX_BYTES = 16 * 1024

/**
 * Reads files of the kernel again and again. They stay open: an idle daemon that is visited every few seconds spends much of its processor time on opening them.
 * Each read from the beginning is a new report.
 */
export class KeptFiles {
  readonly #descriptors = new Map<string, number>()
  #buffer: Buffer | undefined

  /** @throws the error of the system, e.g. ENOENT; then the file is opened again the next time */
  read(path: string): string {
    const descriptor = this.#descriptors.get(path) ?? openSync(path, 'r')
    this.#descriptors.set(path, descriptor)
    this.#buffer ??= Buffer.allocUnsafeSlow(MAX_BYTES)
    try {
      return this.#buffer.toString('latin1', 0, readSync(descriptor, this.#buffer, 0, MAX_BYTES, 0))
    } catch (err) {
      this.#descriptors.delete(path)
      closeSync(descriptor)
      throw err
    }
  }
}
