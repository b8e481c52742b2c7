/**
 * Each entry costs a stat every second on the thread pool and some kilobytes of memory: 10,000 take a third of a CPU and 90 MB.
 */
export const MAX_POLLED_ENTRIES = 10_000

/** How many more entries of network file systems all watchers together may poll. */
export class PollingAllowance {
  #left = MAX_POLLED_ENTRIES

  /** Takes one; false if none is left. */
  take(): boolean {
    if (this.#left === 0) return false
    this.#left -= 1
    return true
  }

  giveBack(count: number): void {
    this.#left += count
  }
}
