import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { Admission } from '../admission/admission.ts'
import { startParked, type ParkParts } from './park-sandbox.ts'
import { giveUpParked, markParked } from './parked-rows.ts'
import type { WantedBuild } from './plan-pool.ts'
import type { PoolMetrics } from './pool-metrics.ts'

export interface PoolStartParts extends ParkParts {
  readonly database: Database
  readonly serverId: number
  readonly admission: Pick<Admission, 'reserve'>
  readonly metrics: Pick<PoolMetrics, 'parkings'>
  readonly log: Logger
  /** Frees what a start has left. */
  readonly remove: (ref: SandboxRef) => Promise<void>
  /** A sandbox of the build could not be started. */
  readonly onFailed: (buildId: string) => void
  readonly onEnd: () => void
}

interface Start {
  readonly signal: AbortSignal
  readonly ended: Promise<void>
}

/** The starts of a server for the pool. */
export class PoolStarts {
  readonly #parts: PoolStartParts
  readonly #running = new Set<Start>()
  /** Ends the starts that begin before it is replaced. */
  #ending = new AbortController()

  constructor(parts: PoolStartParts) {
    this.#parts = parts
  }

  /** In flight. */
  get count(): number {
    return this.#running.size
  }

  /** Starts what a row in state `parking` says. */
  begin(ref: SandboxRef, wanted: WantedBuild): void {
    const { admission, onEnd } = this.#parts
    const reserved = admission.reserve(wanted.build.memoryMib)
    const { signal } = this.#ending
    const ended = this.#park(ref, wanted, signal).finally(() => {
      reserved.release()
      this.#running.delete(start)
      onEnd()
    })
    const start: Start = { signal, ended }
    this.#running.add(start)
  }

  /** Ends those in flight; their builds do not pause. Returns how many had not been told before. */
  giveUp(reason: Error): number {
    const told = [...this.#running].filter(({ signal }) => !signal.aborted).length
    this.#ending.abort(reason)
    this.#ending = new AbortController()
    return told
  }

  /** Ends those in flight and any later one. */
  stop(reason: Error): void {
    this.#ending.abort(reason)
  }

  /** Resolves when none is in flight. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running].map(({ ended }) => ended))
  }

  /** Never rejects. */
  async #park(ref: SandboxRef, wanted: WantedBuild, signal: AbortSignal): Promise<void> {
    const { database, log, metrics, serverId, onFailed } = this.#parts
    const began = performance.now()
    try {
      const endpoint = await startParked(this.#parts, ref, wanted, signal)
      const isOurs = await database.transaction((tx) => markParked(tx, ref, { endpoint, serverId }))
      if (!isOurs) throw new Error('it was given up while it started')
      metrics.parkings.inc({ outcome: 'done' })
      log.debug({ ...ref, templateId: wanted.templateId, ms: Math.round(performance.now() - began) }, 'a sandbox waits in the warm pool')
    } catch (err) {
      if (!signal.aborted) {
        onFailed(wanted.build.buildId)
        metrics.parkings.inc({ outcome: 'failed' })
        log.warn({ err, ...ref, templateId: wanted.templateId }, 'a sandbox could not be started for the warm pool')
      }
      await this.#undo(ref)
    }
  }

  /** Never rejects: what fails here is found by the next pass of any server. */
  async #undo(ref: SandboxRef): Promise<void> {
    const { database, log, remove } = this.#parts
    try {
      const givenUp = await giveUpParked(database.db, [ref])
      await Promise.all(givenUp.map((one) => remove(one)))
    } catch (err) {
      log.warn({ err, ...ref }, 'a start for the warm pool was not undone yet')
    }
  }
}
