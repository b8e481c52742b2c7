import type { Difference } from './compare/difference.ts'
import type { WireRequest } from './wire/exchange.ts'

/** Where a difference was seen. */
export interface Sighting {
  readonly difference: Difference
  /** All differences of the same answer, this one too. */
  readonly all: readonly Difference[]
  /** Undefined for what a watcher saw and for the files at the end. */
  readonly request: WireRequest | undefined
  /** All requests of the scenario up to here. */
  readonly requests: readonly WireRequest[]
}

/** A way in which this daemon means to differ from the reference daemon. */
export interface KnownDifference {
  readonly id: string
  /** What differs and why: a row of docs/compatibility.md. */
  readonly reason: string
  readonly matches: (sighting: Sighting) => boolean
}

/** The message of an answer on one side; empty where it has none. */
export function messageOf({ all }: Sighting, side: 'ours' | 'reference'): string {
  const message = all.find(({ at }) => /(^|\.)message$/.test(at))?.[side]
  if (typeof message === 'string') return message
  const whole = all.find(({ at }) => at === 'body' || at.endsWith('.error'))?.[side]
  return whole === undefined ? '' : JSON.stringify(whole)
}
