/** The budget of all transfers together. Each gets at least `LEAST_BYTES`, so very many transfers may exceed it. */
const TOTAL_BYTES = 4 * 1024 * 1024
const [LEAST_BYTES, MOST_BYTES] = [32 * 1024, 1024 * 1024]

let holders = 0

/** The buffer size that one transfer may use while its client or the disk is slow: large for few transfers, small for hundreds. */
export class MemoryShare implements Disposable {
  /** Fixed when the transfer starts; later transfers get less. */
  readonly bytes: number

  constructor() {
    holders++
    this.bytes = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Math.floor(TOTAL_BYTES / holders)))
  }

  [Symbol.dispose](): void {
    holders--
  }
}

/** How many transfers hold a share. */
export function countTransfers(): number {
  return holders
}
