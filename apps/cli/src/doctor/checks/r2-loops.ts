import { sql } from 'kysely'
import { fail, ok, skipped, type Check, type Finding } from '../check.ts'

export const loops: Check = {
  id: 'R2',
  title: 'Loops',
  checks: 'while a server lives: sandboxes that run 10 s past their end time, and builds whose lease ended 30 s ago: fail',
  why: 'The loop that ends sandboxes or continues builds is dead: sandboxes run on without end, and builds hang.',
  todo: 'Read the log of the server and restart it; sandboxes keep running meanwhile.',
  async run({ database }): Promise<Finding> {
    const { rows } = await database.read((db) =>
      sql<{ servers: number; late: number; leases: number }>`
        select (select count(*)::int from server where lease_until > clock_timestamp()) as servers,
               (select count(*)::int from sandbox where state = 'running' and expires_at < clock_timestamp() - interval '10 seconds') as late,
               (select count(*)::int from build_job where server_id is not null and lease_until < clock_timestamp() - interval '30 seconds') as leases
      `.execute(db),
    )
    const { servers = 0, late = 0, leases = 0 } = rows[0] ?? {}
    if (servers === 0) return skipped('no server lives: nothing ends sandboxes until the next start')
    if (late + leases === 0) return ok(`live servers: ${servers}; no sandbox is past its end, no build has lost its lease`)
    return fail(`${late} sandboxes run past their end, ${leases} builds have lost their lease, although a server lives`)
  },
}
