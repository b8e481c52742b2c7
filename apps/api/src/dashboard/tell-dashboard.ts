import type { Db } from '@sandyard/db/database'
import { CHANNELS, notifyNow } from '@sandyard/db/notify'

export interface DashboardChange {
  readonly kind: 'job' | 'terminal' | 'host'
  readonly id: string
  /** Undefined: of no team. */
  readonly teamId: string | undefined
}

/** Tells the live topics of every server, this one too. */
export async function tellDashboard(db: Db, { kind, id, teamId = '-' }: DashboardChange): Promise<void> {
  await notifyNow(db, CHANNELS.dashboardChanged, `${teamId} ${kind} ${id}`)
}
