import type { Job } from '@sandyard/dashboard-contract/sandboxes'
import type { Db } from '@sandyard/db/database'

/** Undefined for those of other teams. */
export async function readJob(db: Db, teamId: string, jobId: string): Promise<Job | undefined> {
  const job = await db.selectFrom('dashboard_job').selectAll().where('job_id', '=', jobId).where('team_id', '=', teamId).executeTakeFirst()
  if (job === undefined) return undefined
  const items = await db
    .selectFrom('dashboard_job_item')
    .select(['sandbox_id', 'status', 'message'])
    .where('job_id', '=', jobId)
    .orderBy('sandbox_id')
    .execute()
  return {
    jobId: job.job_id,
    action: job.action,
    status: job.finished_at === null ? 'running' : 'done',
    total: items.length,
    done: items.filter(({ status }) => status === 'done' || status === 'skipped').length,
    failed: items.filter(({ status }) => status === 'failed').length,
    createdAt: job.created_at.toISOString(),
    // While it waits, the message is the wanted end time.
    items: items.map(({ sandbox_id, status, message }) => ({
      sandboxId: sandbox_id,
      status,
      message: status === 'waiting' ? null : message,
    })),
  }
}
