import type { Db } from '@sandyard/db/database'
import { RUNNING_STATES } from '../sandboxes/running-states.ts'

/** control-plane.md 3.3. */
const REMEMBER_MS = 5000

type Counts = Readonly<Record<string, number>>

/** The running sandboxes of each team that has any. A count is remembered for five seconds, and requests share the one that is made. */
export class RunningCounts {
  readonly #db: Db
  #last: { readonly at: number; readonly counts: Promise<Counts> } | undefined

  constructor(db: Db) {
    this.#db = db
  }

  get(): Promise<Counts> {
    const now = performance.now()
    if (this.#last !== undefined && now - this.#last.at < REMEMBER_MS) return this.#last.counts
    const counts = countRunning(this.#db)
    this.#last = { at: now, counts }
    counts.catch(() => (this.#last = undefined))
    return counts
  }
}

async function countRunning(db: Db): Promise<Counts> {
  const rows = await db
    .selectFrom('sandbox')
    .select('team_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', RUNNING_STATES)
    .groupBy('team_id')
    .execute()
  return Object.fromEntries(rows.map(({ team_id: teamId, count }) => [teamId, count]))
}
