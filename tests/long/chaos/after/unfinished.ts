import { Database } from '../../../../packages/db/src/database.ts'
import { silentLogger } from '../../../../packages/kit/src/logging/create-logger.ts'

/** Longer than a create may take. */
const CREATE_MS = 60_000

/** Lists rows in a transition, leases and claims. When no operation is in flight, the servers must have removed all of them, whichever part was killed. */
export async function findUnfinished(databaseUrl: string): Promise<string[]> {
  await using database = openDatabase(databaseUrl)
  const { db } = database
  const [now] = await db.selectNoFrom((eb) => eb.fn<Date>('clock_timestamp').as('at')).execute()
  const at = now?.at ?? new Date()
  const sandboxes = await db.selectFrom('sandbox').selectAll().execute()
  const parked = await db.selectFrom('parked_sandbox').select(['sandbox_id', 'state']).where('state', '=', 'removing').execute()
  const jobs = await db.selectFrom('build_job').select(['build_id']).execute()
  const builds = await db.selectFrom('build').select(['build_id', 'status']).where('status', 'in', ['building', 'snapshotting']).execute()
  const keys = await db
    .selectFrom('idempotency_key')
    .leftJoin('sandbox', 'sandbox.sandbox_id', 'idempotency_key.sandbox_id')
    .select(['idempotency_key.key', 'idempotency_key.created_at'])
    .where('idempotency_key.answer', 'is', null)
    .where('sandbox.sandbox_id', 'is', null)
    .execute()
  return [
    ...sandboxes
      .filter(({ state }) => state !== 'running' && state !== 'paused')
      .map(({ sandbox_id, state }) => `the row of ${sandbox_id} is ${state}`),
    ...sandboxes
      .filter(({ egress_applied, egress_version }) => egress_applied < egress_version)
      .map(({ sandbox_id }) => `an update of the network of ${sandbox_id} is not in force`),
    ...sandboxes
      .filter(({ egress_claimed_until }) => egress_claimed_until !== null && egress_claimed_until > at)
      .map(({ sandbox_id }) => `a claim on the network of ${sandbox_id}`),
    ...parked.map(({ sandbox_id }) => `the row of ${sandbox_id} in the warm pool is removing`),
    ...jobs.map(({ build_id }) => `a job of the build ${build_id}`),
    ...builds.map(({ build_id, status }) => `the build ${build_id} is ${status}`),
    ...keys
      .filter(({ created_at }) => at.getTime() - created_at.getTime() > CREATE_MS)
      .map(({ key }) => `the idempotency key ${key} has neither an answer nor a sandbox`),
  ]
}

export function openDatabase(url: string): Database {
  return new Database({ url, applicationName: 'sandyard-chaos', log: silentLogger(), maxConnections: 2 })
}
