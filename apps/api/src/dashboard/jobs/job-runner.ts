import { sql } from 'kysely'
import { JOB_WIDTH } from '@sandyard/dashboard-contract/limits'
import type { DashboardJobTable } from '@sandyard/db/schema/dashboard-job'
import { secondsAgo } from '@sandyard/db/statement-time'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import { runForOwner } from '@sandyard/kit/tracing/scope'
import type { Actor } from '../../events/actor.ts'
import type { LifecycleParts } from '../../sandboxes/lifecycle/lifecycle-parts.ts'
import { tellDashboard } from '../tell-dashboard.ts'
import { runItem, type ItemOutcome } from './run-item.ts'

/** Only finds the jobs of servers that have died; a new job wakes the loop. */
const LOOKS_EVERY_MS = 10_000
const LEASE_SECONDS = 30
const RENEWS_EVERY_MS = 8000
/** Jobs at once on one server, of different teams where there are some. */
const JOBS_AT_ONCE = 4
const TELLS_EVERY_MS = 300

interface ClaimedJob {
  readonly job_id: string
  readonly team_id: string
  readonly action: DashboardJobTable['action']
  readonly actor: Actor
}

interface WaitingItem {
  readonly sandbox_id: string
  readonly message: string | null
}

/** Works off the jobs of all servers: each under a lease, which another server takes over when it has run out. */
export class JobRunner {
  readonly #parts: LifecycleParts
  readonly #running = new Map<string, Promise<void>>()
  #loop: Loop | undefined

  constructor(parts: LifecycleParts) {
    this.#parts = parts
  }

  start(): void {
    this.#loop ??= runLoop({ name: 'dashboard jobs', everyMs: LOOKS_EVERY_MS, log: this.#parts.log }, (signal) => this.#claimAll(signal))
  }

  /** There is a new job. */
  wake(): void {
    this.#loop?.wake()
  }

  /** Stops after the items in flight. Other servers do the rest. */
  async stop(): Promise<void> {
    await this.#loop?.stop()
    await Promise.all(this.#running.values())
  }

  async #claimAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#running.size < JOBS_AT_ONCE) {
      const job = await this.#claim()
      if (job === undefined) return
      const running = this.#run(job, signal)
        .catch((err: unknown) => this.#parts.log.error({ err, jobId: job.job_id }, 'a job of the dashboard was interrupted'))
        .finally(() => {
          this.#running.delete(job.job_id)
          if (!signal.aborted) this.wake()
        })
      this.#running.set(job.job_id, running)
    }
  }

  /** Jobs of teams that have none under way come first. */
  async #claim(): Promise<ClaimedJob | undefined> {
    const { rows } = await sql<ClaimedJob>`
      update dashboard_job set leased_until = statement_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      where job_id = (
        select job_id from dashboard_job as waiting
        where finished_at is null and (leased_until is null or leased_until < statement_timestamp())
        order by exists(
          select from dashboard_job as other
          where other.team_id = waiting.team_id and other.finished_at is null and other.leased_until >= statement_timestamp()
        ), created_at limit 1 for update skip locked
      )
      returning job_id, team_id, action, actor
    `.execute(this.#parts.database.db)
    return rows[0]
  }

  async #run(job: ClaimedJob, signal: AbortSignal): Promise<void> {
    const { db } = this.#parts.database
    const renewing = runLoop({ name: 'lease of a job', everyMs: RENEWS_EVERY_MS, log: this.#parts.log }, () => this.#renew(job.job_id))
    let toldAt = 0
    const tell = async (isLast: boolean): Promise<void> => {
      if (!isLast && Date.now() - toldAt < TELLS_EVERY_MS) return
      toldAt = Date.now()
      await tellDashboard(db, { kind: 'job', id: job.job_id, teamId: job.team_id })
    }
    try {
      const items = await this.#waiting(job.job_id)
      // Each of the workers takes the next item, also after one that failed.
      const work = async (): Promise<void> => {
        for (let item = items.shift(); item !== undefined && !signal.aborted; item = items.shift()) {
          const { sandbox_id: sandboxId, message } = item
          const until = job.action === 'extend' && message !== null ? new Date(message) : undefined
          const outcome = await runItem(this.#parts, { action: job.action, teamId: job.team_id, sandboxId, actor: job.actor, until })
          await this.#store(job.job_id, sandboxId, outcome)
          await tell(false)
        }
      }
      await runForOwner(job.team_id, () => Promise.all(Array.from({ length: JOB_WIDTH }, work)))
      await this.#finish(job.job_id)
      await tell(true)
    } finally {
      await renewing.stop()
    }
  }

  async #waiting(jobId: string): Promise<WaitingItem[]> {
    const items = this.#parts.database.db.selectFrom('dashboard_job_item').select(['sandbox_id', 'message'])
    return items.where('job_id', '=', jobId).where('status', '=', 'waiting').orderBy('sandbox_id').execute()
  }

  async #store(jobId: string, sandboxId: string, { status, message }: ItemOutcome): Promise<void> {
    await this.#parts.database.db
      .updateTable('dashboard_job_item')
      .set({ status, message })
      .where('job_id', '=', jobId)
      .where('sandbox_id', '=', sandboxId)
      .where('status', '=', 'waiting')
      .execute()
  }

  async #renew(jobId: string): Promise<void> {
    await this.#parts.database.db
      .updateTable('dashboard_job')
      .set({ leased_until: secondsAgo(-LEASE_SECONDS) })
      .where('job_id', '=', jobId)
      .where('finished_at', 'is', null)
      .execute()
  }

  /** A stopped server leaves waiting items: it gives the job back. */
  async #finish(jobId: string): Promise<void> {
    await sql`
      update dashboard_job set leased_until = null, finished_at = case when exists(
        select from dashboard_job_item where job_id = ${jobId} and status = 'waiting'
      ) then null else statement_timestamp() end
      where job_id = ${jobId} and finished_at is null
    `.execute(this.#parts.database.db)
  }
}
