import type { Difference } from './compare/difference.ts'
import type { WireRequest } from './wire/exchange.ts'

/** A difference and its context. */
export interface Sighting {
  readonly difference: Difference
  /** All differences of the same answer, including this one. */
  readonly all: readonly Difference[]
  /** Undefined for watches and for the comparison of files. */
  readonly request: WireRequest | undefined
  /** All requests of the scenario up to this one. */
  readonly requests: readonly WireRequest[]
}

/** An intended difference from the reference daemon. */
export interface KnownDifference {
  readonly id: string
  /** The difference and its reason: a row of docs/compatibility.md. */
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
