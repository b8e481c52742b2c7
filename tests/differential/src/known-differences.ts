import type { Difference } from './compare/difference.ts'
import type { WireRequest } from './wire/exchange.ts'

/** Where a difference was seen. */
export interface Sighting {
  readonly difference: Difference
  /** All differences of the same answer. */
  readonly others: readonly Difference[]
  /** Undefined for what a watcher saw and for the files at the end. */
  readonly request: WireRequest | undefined
  /** All requests of the scenario up to here. */
  readonly requests: readonly WireRequest[]
}

/** A way in which this daemon means to differ from the reference daemon. */
export interface KnownDifference {
  readonly id: string
  /** What differs and why, for the page of differences. */
  readonly reason: string
  readonly matches: (sighting: Sighting) => boolean
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = []

export function findKnownDifference(sighting: Sighting): KnownDifference | undefined {
  return KNOWN_DIFFERENCES.find((known) => known.matches(sighting))
}
