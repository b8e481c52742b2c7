import type { Database } from '@sandyard/db/database'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { spaced } from '@sandyard/kit/async/spaced'
import { resultWithin, within } from '@sandyard/kit/async/within'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Admission } from '../admission/admission.ts'
import { REMOVE_TIMEOUT_MS } from '../sandboxes/end/end-sandbox.ts'
import type { Repairs } from '../sandboxes/repair/repairs.ts'
import { claimParked, replaceClaimed, type Claiming } from './claim-parked.ts'
import { countFreeStarts } from './count-free-starts.ts'
import { DemandCounter, forgetDemand, type DemandKey } from './demand.ts'
import { poolGeneration } from './generation.ts'
import { Lull } from './lull.ts'
import type { ParkParts } from './park-sandbox.ts'
import {
  claimedOf,
  deleteParked,
  giveUpOldest,
  giveUpParked,
  giveUpUnserved,
  listWaiting,
  storeMemory,
  takeUnremoved,
} from './parked-rows.ts'
import type { PoolBounds } from './pool-config.ts'
import type { PoolMetrics } from './pool-metrics.ts'
import { PoolStarts } from './pool-starts.ts'
import { Setbacks } from './setbacks.ts'
import { storePlan } from './store-plan.ts'
import { UsageCheck } from './usage-check.ts'
import { readWantedBuilds } from './wanted-builds.ts'

export interface PoolParts extends ParkParts {
  readonly database: Database
  readonly config: PoolBounds
  readonly serverId: number
  /** The engine that the database belongs to. */
  readonly engineId: string
  readonly repairs: Repairs
  readonly metrics: PoolMetrics
  readonly log: Logger
  readonly admission: Pick<Admission, 'hasRoom' | 'onShortage' | 'reserve'>
  /** True while the server stops, or while starts that clients wait for need the processors. */
  readonly isBusy: () => boolean
}

/** The longest wait for what nothing tells, e.g. that the host has room again. Pauses between creates, the ends of starts and new builds wake the loop. */
const FILL_EVERY_MS = 10_000
/** The same while something is missing that may not be started yet; each look that can start nothing doubles it. */
const FILL_AGAIN_MS = 1000
const LOOK_GAP_MS = 200
const LULL = { quietMs: 250, longestMs: 2000 }
/** After a shortage of memory nothing is started for the pool for so long. */
const CLOSED_AFTER_SHORTAGE_MS = 30_000
/** Shortages are told four times a second. */
const AT_ONCE_IN_SHORTAGE = 4
/** Together less than a phase of the shutdown may take. */
const LAST_STARTS_MS = 5000
const LAST_REMOVALS_MS = 10_000
const CHECK_EVERY_MS = 10_000
const USAGE_TIMEOUT_MS = 10_000
const FORGET_EVERY_MS = 60_000

/**
 * Sandboxes that have started and wait for creates (design.md 3, "Warm pool"). Any number of servers share it: rows of `parked_sandbox` say what
 * waits, and every change of them is one guarded statement.
 */
export class WarmPool {
  readonly #parts: PoolParts
  readonly #demand = new DemandCounter()
  readonly #setbacks = new Setbacks()
  readonly #usage = new UsageCheck()
  readonly #starts: PoolStarts
  readonly #room = new SingleFlight<'room', void>()
  #loops: readonly Loop[] = []
  #closedUntil = 0
  #lastGeneration: string | undefined
  #again: NodeJS.Timeout | undefined
  #againMs = FILL_AGAIN_MS
  /** Starts for the pool wait for a pause between creates, so that they do not slow them down. */
  readonly #lull = new Lull({ ...LULL, onLull: () => this.#loops[0]?.wake() })

  constructor(parts: PoolParts) {
    this.#parts = parts
    this.#starts = new PoolStarts({
      ...parts,
      remove: (ref) => this.#remove(ref),
      onFailed: (buildId) => this.#setbacks.add(buildId),
      onEnd: () => this.#loops[0]?.wake(),
    })
    parts.admission.onShortage((shortage) => {
      if (shortage !== 'memory') return
      this.#room.run('room', () => this.#makeRoom()).catch((err: unknown) => parts.log.warn({ err }, 'the warm pool could not make room'))
    })
  }

  get isOn(): boolean {
    return this.#parts.config.memoryMib > 0
  }

  /** Creates have paused, so that starts for the pool may begin. */
  get isQuiet(): boolean {
    return this.#lull.isNow
  }

  /** Resolves when creates pause, within two seconds, for work of the engine that would slow them down. */
  quiet(): Promise<void> {
    return this.#lull.reached()
  }

  /** Has the pool look at what is wanted now. */
  readonly look = spaced(LOOK_GAP_MS, () => this.#loops[0]?.wake())

  /** Starts the loops. */
  start(): void {
    const { database, log } = this.#parts
    // Without a pool, what an earlier configuration has left is still removed.
    const filling = runLoop({ name: 'warm pool', everyMs: FILL_EVERY_MS, log }, () => this.fill())
    const forgetting = runLoop({ name: 'warm pool demand', everyMs: FORGET_EVERY_MS, log }, () => forgetDemand(database.db))
    const checking = runLoop({ name: 'warm pool usage', everyMs: CHECK_EVERY_MS, log }, (signal) => this.check(signal))
    this.#loops = [filling, forgetting, checking]
  }

  /**
   * Ends the loops and the starts in flight. What waits is left to the other servers; the last one frees it. What it cannot free in time, the next
   * start does.
   */
  async stop(): Promise<void> {
    this.#starts.stop(new Error('the server stops'))
    this.#lull[Symbol.dispose]()
    this.look[Symbol.dispose]()
    await resultWithin(LAST_STARTS_MS, this.#endWork())
    const { database, engineId, serverId, log } = this.#parts
    try {
      await within({ what: 'freeing the warm pool', timeoutMs: LAST_REMOVALS_MS }, async () => {
        const left = await giveUpUnserved(database.db, { serverId, engineId })
        await this.#freed(left)
      })
    } catch (err) {
      log.warn({ err }, 'the warm pool is left to the next start')
    }
  }

  /** How a create takes a sandbox of the build out of the pool (`claimParked`). Undefined without a pool. */
  claim(buildId: string, isDurable: boolean): Claiming | undefined {
    return this.isOn ? claimParked({ buildId, generation: this.#generation, isDurable }) : undefined
  }

  /** Notes a create, so that the pool follows the demand. */
  created(key: DemandKey, outcome: 'claimed' | 'missed'): void {
    if (!this.isOn) return
    this.#demand.note(key)
    this.#parts.metrics.creates.inc({ outcome })
    this.#lull.disturb()
  }

  /**
   * A claimed sandbox does not work: the create goes on with another incarnation of its id, and the former one is freed.
   *
   * @throws Error when the start was ended meanwhile, or the lease of this server has ended
   */
  async replace(ref: SandboxRef, claim: string): Promise<SandboxRef> {
    const { database, metrics, serverId } = this.#parts
    metrics.creates.inc({ outcome: 'failed' })
    const next = await database.transaction((tx) => replaceClaimed(tx, ref, { claim, serverId }))
    if (next === undefined) throw new Error('the reservation was abandoned, or the lease of this server has ended')
    this.#free([ref])
    this.look()
    return next
  }

  /** Gives up sandboxes that have ended by themselves. */
  async lost(refs: readonly SandboxRef[]): Promise<void> {
    if (refs.length === 0) return
    this.#free(await giveUpParked(this.#parts.database.db, refs))
    this.look()
  }

  /** One pass: gives up what is not wanted any more, frees it, and starts what is missing. Returns before the starts have ended. */
  async fill(): Promise<void> {
    const { database } = this.#parts
    // Now: while creates follow each other, a lull is over when the statements below have ended.
    const mayStart = this.isQuiet && performance.now() >= this.#closedUntil
    this.#lastGeneration = undefined
    await this.#demand.write(database.db)
    const wanted = this.isOn ? await readWantedBuilds(database.db) : []
    const mayPark = mayStart ? await countFreeStarts(this.#parts, wanted, this.#starts.count) : 0
    const { begun, givenUp, isShort } = await database.transaction((tx) =>
      storePlan(tx, {
        ...this.#parts,
        wanted,
        mayPark,
        generation: this.#generation,
        isPaused: (buildId) => this.#setbacks.isPaused(buildId),
        usedMib: (buildId) => this.#usage.usedMib(buildId, performance.now()),
      }),
    )
    for (const [ref, build] of begun) this.#starts.begin(ref, build)
    this.#lookAgain(isShort, begun.length > 0)
    this.#free(givenUp)
    this.#free(await takeUnremoved(database.db))
  }

  /**
   * Stores what sandboxes that wait use, which counts against the memory of the pool, and gives up those that do not idle: a start command that
   * keeps a processor busy would take it from others while it belongs to nobody.
   */
  async check(signal?: AbortSignal): Promise<void> {
    const { database, log, runtime } = this.#parts
    const waiting = await listWaiting(database.db)
    if (waiting.length === 0) return
    const what = 'reading the usage of the warm pool'
    const usage = await within({ what, timeoutMs: USAGE_TIMEOUT_MS, ...(signal && { signal }) }, () => runtime.usage(waiting))
    // What was claimed meanwhile works for its user. What another server has given up meanwhile counts, so that this one does not start the next ones.
    const claimed = await claimedOf(
      database.db,
      waiting.map(({ sandboxId }) => sandboxId),
    )
    const judged = waiting.filter(({ sandboxId }) => !claimed.has(sandboxId))
    const { busy, memoryMib } = this.#usage.judge(judged, usage, performance.now())
    await storeMemory(database.db, memoryMib)
    for (const buildId of new Set(busy.map((one) => one.buildId))) this.#setbacks.add(buildId)
    const givenUp = await giveUpParked(database.db, busy)
    for (const { buildId, ...ref } of givenUp)
      log.warn({ ...ref, buildId }, 'a sandbox of the warm pool does not idle: its template pauses')
    this.#free(givenUp)
    if (givenUp.length > 0) this.look()
  }

  /** Resolves when no start is in flight. */
  settled(): Promise<void> {
    return this.#starts.settled()
  }

  /** Made once in each pass: claims do not hash the settings of the runtime. */
  get #generation(): string {
    return (this.#lastGeneration ??= poolGeneration(this.#parts.runtime.generation(), this.#parts.outbound))
  }

  #lookAgain(isShort: boolean, hasBegun: boolean): void {
    clearTimeout(this.#again)
    this.#againMs = isShort && !hasBegun ? Math.min(2 * this.#againMs, FILL_EVERY_MS) : FILL_AGAIN_MS
    if (isShort) this.#again = setTimeout(this.look, this.#againMs).unref()
  }

  /** A create waits because the host is short of memory: what nobody uses ends first, and of that first what serves no create yet. */
  async #makeRoom(): Promise<void> {
    this.#closedUntil = performance.now() + CLOSED_AFTER_SHORTAGE_MS
    if (this.#starts.giveUp(new Error('a create needs the memory')) > 0) return
    this.#free(await giveUpOldest(this.#parts.database.db, AT_ONCE_IN_SHORTAGE))
  }

  /** Ends the passes and the starts. */
  async #endWork(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    clearTimeout(this.#again)
    await this.#starts.settled()
  }

  #free(refs: readonly SandboxRef[]): void {
    void this.#freed(refs)
  }

  /** Never rejects. The removals share the width of the repairs, and each has a deadline. */
  async #freed(refs: readonly SandboxRef[]): Promise<void> {
    await Promise.all(refs.map((ref) => this.#parts.repairs.run(ref, () => this.#remove(ref))))
  }

  async #remove(ref: SandboxRef): Promise<void> {
    const { database, runtime } = this.#parts
    await within({ what: 'the removal of a sandbox of the warm pool', timeoutMs: REMOVE_TIMEOUT_MS }, () => runtime.remove(ref))
    await deleteParked(database.db, ref)
  }
}
