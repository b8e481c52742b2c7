interface EntryLimit {
  readonly maxSize: number
  readonly sizeCalculation: () => number
}

/**
 * Options of an `LRUCache` that keeps at most `max` entries. Its memory grows with them; the library's own option `max` takes the memory of
 * `max` entries at once, milliseconds for tens of thousands.
 */
export function entryLimit(max: number): EntryLimit {
  return { maxSize: max, sizeCalculation: () => 1 }
}
