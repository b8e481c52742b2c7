import type { Selectable } from 'kysely'
import type { Database } from '@sandyard/db/database'
import type { SandboxMetricTable } from '@sandyard/db/schema/sandbox-metric'
import type { Secret } from '@sandyard/kit/config/secret'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { DaemonMetrics } from '../daemon/daemon-metrics.ts'
import { KeptConnections } from '../daemon/kept-connections.ts'
import { readReports } from '../daemon/read-reports.ts'
import { appendDaemonLogs } from '../sandbox-logs/append-daemon-logs.ts'
import { claimTick, ensureTicks } from './claim-tick.ts'
import { storeSamples } from './sample.ts'
import { listSampleTargets, type SampleTarget } from './sample-targets.ts'

export interface SamplerParts {
  readonly database: Database
  readonly tokenSeed: Secret
  /** The runtime limits the disk of a sandbox. Otherwise the daemon reports the disk of the host. */
  readonly hasDiskLimit: boolean
  readonly log: Logger
}

/** Visits at once. Sandboxes that did not answer the last time have a lane of their own, so that they delay no others. */
const LANES = { answering: 32, silent: 8 }
const VISIT_TIMEOUT_MS = 2000
/** No visit begins later in a tick. The order is random, so that no sandbox is left out every time. */
const PASS_MS = 4500
/** Log entries of one visit, and the statements that store them at once: busy sandboxes delay the samples of others little. */
const LOGS = { maxEntries: 200, statements: 4 }
/** Samples of one statement. */
const BATCH = 500

/** Samples all running sandboxes and reads their logs, once in each tick of the installation. */
export class Sampler implements Disposable {
  readonly #parts: SamplerParts
  readonly #storing = new Semaphore(LOGS.statements)
  readonly #connections = new KeptConnections()
  /** Running sandboxes that did not answer the last time. */
  #silent = new Set<string>()
  #isReady = false

  constructor(parts: SamplerParts) {
    this.#parts = parts
  }

  /** Runs one tick, if no other server has claimed it. */
  async run(signal: AbortSignal): Promise<void> {
    const { database, tokenSeed } = this.#parts
    if (!this.#isReady) await ensureTicks(database)
    this.#isReady = true
    const at = await claimTick(database)
    if (at === undefined) return
    const until = performance.now() + PASS_MS
    const targets = shuffle(await listSampleTargets(database.db, tokenSeed))
    this.#connections.keepOnly(targets)
    const [answering, silent] = [targets.filter((target) => !this.#isSilent(target)), targets.filter((target) => this.#isSilent(target))]
    this.#silent = new Set(silent.map(({ sandboxId }) => sandboxId))
    const pass = { at, until, signal }
    await Promise.all([this.#visitAll(answering, LANES.answering, pass), this.#visitAll(silent, LANES.silent, pass)])
  }

  [Symbol.dispose](): void {
    this.#connections[Symbol.dispose]()
  }

  #isSilent({ sandboxId }: SampleTarget): boolean {
    return this.#silent.has(sandboxId)
  }

  async #visitAll(targets: readonly SampleTarget[], width: number, { at, until, signal }: Pass): Promise<void> {
    const queue = targets.values()
    let samples: Selectable<SandboxMetricTable>[] = []
    const store = async (): Promise<void> => {
      const batch = samples
      samples = []
      await storeSamples(this.#parts.database.db, batch)
    }
    const work = async (): Promise<void> => {
      for (const target of queue) {
        if (signal.aborted || performance.now() > until) return
        const metrics = await this.#visit(target, signal)
        if (metrics !== undefined) samples.push(this.#toSample(target, metrics, at))
        if (samples.length >= BATCH) await store()
      }
    }
    await Promise.all(Array.from({ length: width }, work))
    await store()
  }

  async #visit(target: SampleTarget, signal: AbortSignal): Promise<DaemonMetrics | undefined> {
    const { database, log } = this.#parts
    const { sandboxId, place, daemon } = target
    const { metrics, logs } = await readReports(daemon, {
      place,
      maxEntries: LOGS.maxEntries,
      withMetrics: true,
      timeoutMs: VISIT_TIMEOUT_MS,
      signal,
      kept: this.#connections.of(target),
    })
    if (metrics === undefined) this.#silent.add(sandboxId)
    else this.#silent.delete(sandboxId)
    try {
      if (logs !== undefined && logs.entries.length > 0) {
        await this.#storing.run(() => appendDaemonLogs(database.db, target, logs))
      }
    } catch (err) {
      // The next visit reads them again.
      log.warn({ err, sandboxId }, 'log entries of a sandbox were not stored')
    }
    return metrics
  }

  #toSample({ sandboxId, teamId, diskBytes }: SampleTarget, metrics: DaemonMetrics, at: Date): Selectable<SandboxMetricTable> {
    return {
      sandbox_id: sandboxId,
      team_id: teamId,
      sampled_at: at,
      cpu_count: metrics.cpuCount,
      cpu_used_pct: metrics.cpuUsedPct,
      mem_used: metrics.memUsed,
      mem_cache: metrics.memCache,
      mem_total: metrics.memTotal,
      disk_used: metrics.diskUsed,
      disk_total: this.#parts.hasDiskLimit ? diskBytes : metrics.diskTotal,
    }
  }
}

interface Pass {
  readonly at: Date
  readonly until: number
  readonly signal: AbortSignal
}

/** In random order. */
function shuffle<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
