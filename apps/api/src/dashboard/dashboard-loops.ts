import { JOB_KEPT_MS, SESSION_IDLE_MS } from '@sandyard/dashboard-contract/limits'
import { deleteOlder } from '@sandyard/db/delete-older'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { AppContext } from '../context.ts'
import { deleteOldRecordings, endLostRecordings } from './recordings/tidy-recordings.ts'

const TIDIES_EVERY_MS = 10 * 60_000

/** The background work of the dashboard: jobs, and the removal of what has ended. */
export function startDashboardLoops({ config, database, jobs, log }: AppContext, shutdown: Shutdown): void {
  if (!config.dashboard.isOn) return
  jobs.start()
  shutdown.add('dashboard jobs', () => jobs.stop())
  const tidying = runLoop({ name: 'dashboard leftovers', everyMs: TIDIES_EVERY_MS, log: log.database }, async (signal) => {
    const { db } = database
    await deleteOlder(db, { table: 'dashboard_session', time: 'expires_at', ageMs: 0, signal })
    await deleteOlder(db, { table: 'dashboard_session', time: 'used_at', ageMs: SESSION_IDLE_MS, signal })
    await deleteOlder(db, { table: 'dashboard_login_code', time: 'expires_at', ageMs: 0, signal })
    // A job takes minutes, so those that are a day old have ended.
    await deleteOlder(db, { table: 'dashboard_job', time: 'created_at', ageMs: JOB_KEPT_MS, signal })
    await endLostRecordings(db)
    await deleteOldRecordings(db, signal)
  })
  shutdown.add('dashboard leftovers', () => tidying.stop())
}
