import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import { runForOwner } from '@sandyard/kit/tracing/scope'
import type { Placement } from '../../servers/placement.ts'
import { AttemptLease } from './attempt-lease.ts'
import { claimBuild, type ClaimedBuild } from './claim-build.ts'
import { isBuildWaiting } from './queue-queries.ts'
import { runAttempt, ServerStopsError, type AttemptEnd, type AttemptParts } from './run-attempt.ts'

/** New builds arrive by notification; this interval finds builds with an expired lease. */
const LOOK_EVERY_MS = 5000
/** Of the width, for one team: its long builds do not take every place, where there are more than three. */
const TEAM_SHARE = 3 / 4

export interface WorkerParts extends AttemptParts {
  readonly serverId: number
  /** A server that takes no sandboxes takes no builds either; one that drains returns those that run. */
  readonly placement: Pick<Placement, 'accepts' | 'status'>
  /** Concurrent builds. */
  readonly width: number
  /** Longest duration of a whole build. */
  readonly timeoutMs: number
  /** Builds stay in the queue while the host is short of memory. */
  readonly hasMemory: () => Promise<boolean>
  readonly onAttemptEnd?: (end: AttemptEnd, ms: number) => void
}

interface RunningBuild {
  readonly teamId: string
  readonly lease: AttemptLease
  readonly ended: Promise<void>
}

/** Claims and runs builds of the queue. Any number of servers may run one worker each. */
export class BuildWorker {
  readonly #parts: WorkerParts
  readonly #running = new Map<string, RunningBuild>()
  readonly #claiming: Loop
  #isStopping = false

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#claiming = runLoop({ name: 'build queue', everyMs: LOOK_EVERY_MS, log: parts.log }, () => this.#claim())
  }

  /** Attempts that run here now. */
  get running(): number {
    return this.#running.size
  }

  /** A build was queued or has new orders. */
  onBuildChanged(buildId: string): void {
    const running = this.#running.get(buildId)
    if (running === undefined) this.#claiming.wake()
    else running.lease.check()
  }

  /** Notifications may have been missed. */
  onRefresh(): void {
    this.#claiming.wake()
    for (const { lease } of this.#running.values()) lease.check()
  }

  onPlacementChanged(): void {
    if (this.#parts.placement.status === 'draining') for (const { lease } of this.#running.values()) lease.end(nodeDrains())
    this.#claiming.wake()
  }

  /** Returns unfinished builds to the queue. Resolves when no build runs here any more. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#claiming.stop()
    for (const { lease } of this.#running.values()) lease.end(new ServerStopsError('this server stops'))
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  async #claim(): Promise<void> {
    const { database, hasMemory, placement, serverId, timeoutMs, width } = this.#parts
    const mayClaim = (): boolean => !this.#isStopping && placement.accepts && this.#running.size < width
    while (mayClaim() && (await isBuildWaiting(database.db)) && (await hasMemory())) {
      const claimed = await claimBuild(database, { serverId, timeoutMs, servedTeams: this.#servedTeams() })
      if (claimed === undefined) return
      const lease = new AttemptLease(this.#parts, claimed)
      this.#running.set(claimed.buildId, {
        teamId: claimed.teamId,
        lease,
        ended: runForOwner(claimed.teamId, () => this.#run(claimed, lease)),
      })
      // The order may have come with the claim.
      if (placement.status === 'draining') lease.end(nodeDrains())
    }
  }

  /** The teams that have their share of the places. */
  #servedTeams(): ReadonlySet<string> {
    const share = Math.ceil(this.#parts.width * TEAM_SHARE)
    const byTeam = Map.groupBy(this.#running.values(), ({ teamId }) => teamId)
    return new Set([...byTeam].filter(([, builds]) => builds.length >= share).map(([teamId]) => teamId))
  }

  async #run(claimed: ClaimedBuild, lease: AttemptLease): Promise<void> {
    const { log, onAttemptEnd } = this.#parts
    const { buildId, templateId, teamId, attempt } = claimed
    log.info({ buildId, templateId, teamId, attempt }, 'build begins')
    const begunAt = performance.now()
    try {
      const end = await runAttempt(this.#parts, claimed, lease)
      const ms = Math.round(performance.now() - begunAt)
      log.info({ buildId, templateId, teamId, attempt, end, ms }, 'build attempt ended')
      onAttemptEnd?.(end, ms)
    } catch (err) {
      log.error({ err, buildId, attempt }, 'build attempt failed')
    } finally {
      await lease.stop()
      this.#running.delete(buildId)
      this.#claiming.wake()
    }
  }
}

function nodeDrains(): ServerStopsError {
  return new ServerStopsError('this node drains')
}
