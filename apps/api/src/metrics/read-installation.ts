import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { secondsAgo, statementTime } from '@sandyard/db/statement-time'
import { isOccupied } from '../sandboxes/sandbox-queries.ts'

/** What the metrics say about the whole installation. */
export interface InstallationCounts {
  readonly sandboxes: ReadonlyMap<SandboxState, number>
  readonly pool: Readonly<Record<'parking' | 'parked', number>>
  readonly sandboxLimit: number
  readonly teamsAtLimit: number
  readonly expiryLagSeconds: number
  readonly builds: { readonly queued: number; readonly running: number; readonly queueAgeSeconds: number }
  readonly servers: Readonly<Record<'ready' | 'draining' | 'lost', number>>
}

const STATES: readonly SandboxState[] = ['starting', 'running', 'pausing', 'paused', 'resuming', 'snapshotting', 'killing']

/** How long a server that ended without an order is counted as lost. */
const LOST_SECONDS = 15 * 60

/** @param sandboxLimit - sandboxes at once of a team without a limit of its own */
export async function readInstallation(db: Db, sandboxLimit: number): Promise<InstallationCounts> {
  return {
    sandboxes: await countSandboxes(db),
    pool: await countPool(db),
    sandboxLimit,
    teamsAtLimit: await countTeamsAtLimit(db, sandboxLimit),
    expiryLagSeconds: await readExpiryLag(db),
    builds: await readQueue(db),
    servers: await countServers(db),
  }
}

/** Every state, so that a series falls to zero and does not end. */
async function countSandboxes(db: Db): Promise<Map<SandboxState, number>> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['state', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
  const counts = new Map<SandboxState, number>(STATES.map((state) => [state, 0]))
  for (const { state, count } of rows) counts.set(state, count)
  return counts
}

async function countPool(db: Db): Promise<InstallationCounts['pool']> {
  const count = (state: 'parking' | 'parked') => sql<number>`count(*) filter (where state = ${state})`.as(state)
  return db
    .selectFrom('parked_sandbox')
    .select([count('parking'), count('parked')])
    .executeTakeFirstOrThrow()
}

async function countTeamsAtLimit(db: Db, sandboxLimit: number): Promise<number> {
  const full = db
    .selectFrom('sandbox')
    .innerJoin('team', 'team.id', 'sandbox.team_id')
    .select('team.id')
    .where(isOccupied)
    .groupBy('team.id')
    .having((eb) => eb(eb.fn.countAll(), '>=', eb.fn.coalesce('team.max_sandboxes', eb.val(sandboxLimit))))
  const { count } = await db
    .selectFrom(full.as('full'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function readExpiryLag(db: Db): Promise<number> {
  const { lag } = await db
    .selectFrom('sandbox')
    .select(sql<number>`coalesce(extract(epoch from clock_timestamp() - min(expires_at)), 0)::double precision`.as('lag'))
    .where('state', '=', 'running')
    .where('expires_at', '<=', statementTime())
    .executeTakeFirstOrThrow()
  return lag
}

async function readQueue(db: Db): Promise<InstallationCounts['builds']> {
  const { all, running, age } = await db
    .selectFrom('build_job')
    .select((eb) => [
      eb.fn.countAll<number>().as('all'),
      eb.fn.count<number>('server_id').as('running'),
      sql<number>`
        coalesce(extract(epoch from clock_timestamp() - min(queued_at) filter (where server_id is null)), 0)::double precision
      `.as('age'),
    ])
    .executeTakeFirstOrThrow()
  return { queued: all - running, running, queueAgeSeconds: Math.max(0, age) }
}

async function countServers(db: Db): Promise<InstallationCounts['servers']> {
  const isAlive = sql<boolean>`lease_until > clock_timestamp()`
  const { rows } = await sql<InstallationCounts['servers']>`
    select
      count(*) filter (where ${isAlive} and not is_draining) as ready,
      count(*) filter (where ${isAlive} and is_draining) as draining,
      count(*) filter (where not ${isAlive} and lease_until > ${secondsAgo(LOST_SECONDS)}) as lost
    from server
  `.execute(db)
  return rows[0] ?? { ready: 0, draining: 0, lost: 0 }
}
