/**
 * Each entry costs a look every second, on the few threads that all work on files shares, and some kilobytes: this many take a third of a
 * processor and ninety megabytes.
 */
export const MAX_POLLED_ENTRIES = 10_000

/** How many entries of network file systems all watchers together may still look at. */
export class PollingAllowance {
  #left = MAX_POLLED_ENTRIES

  /** Takes one; false when there is none left. */
  take(): boolean {
    if (this.#left === 0) return false
    this.#left -= 1
    return true
  }

  giveBack(count: number): void {
    this.#left += count
  }
}
