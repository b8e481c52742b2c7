import { LRUCache } from 'lru-cache'
import { TICKS_PER_SECOND } from './proc-stat.ts'

interface Reading {
  readonly atMs: number
  readonly ticks: ReadonlyMap<string, number>
}

/** Sandboxes whose processes somebody looks at. */
const MAX_SANDBOXES = 256
/** An older reading says little about now. */
const FRESH_MS = 60_000
/** Ticks are 10 ms: a shorter interval says nothing. */
const SHORTEST_MS = 500

/** The share of a processor that each process has taken since the last look at it. */
export class CpuShares {
  readonly #last = new LRUCache<string, Reading>({ max: MAX_SANDBOXES, ttl: FRESH_MS })

  /**
   * @param ticks - by process; a process is its pid with its start
   * @returns percent of one processor; nothing for a process that was not seen before
   */
  since(sandboxId: string, ticks: ReadonlyMap<string, number>): Map<string, number> {
    const last = this.#last.get(sandboxId)
    const now = performance.now()
    const passedMs = last === undefined ? 0 : now - last.atMs
    if (last === undefined || passedMs >= SHORTEST_MS) this.#last.set(sandboxId, { atMs: now, ticks })
    if (last === undefined || passedMs < SHORTEST_MS) return new Map()
    return new Map(
      [...ticks].flatMap(([process, count]): [string, number][] => {
        const before = last.ticks.get(process)
        if (before === undefined || count < before) return []
        return [[process, Math.round((((count - before) / TICKS_PER_SECOND) * 1000 * 1000) / passedMs) / 10]]
      }),
    )
  }
}
