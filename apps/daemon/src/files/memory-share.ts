/** What all transfers together may hold, as long as they are not too many to work with it. */
const TOTAL_BYTES = 4 * 1024 * 1024
const [LEAST_BYTES, MOST_BYTES] = [32 * 1024, 1024 * 1024]

let holders = 0

/** What one transfer may hold in memory while its client, or the disk, is slow. Few transfers are fast; hundreds of stalled ones are small. */
export class MemoryShare implements Disposable {
  /** The share at the beginning of the transfer; those that begin later have to do with less. */
  readonly bytes: number

  constructor() {
    holders++
    this.bytes = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(TOTAL_BYTES / holders)))
  }

  [Symbol.dispose](): void {
    holders--
  }
}
