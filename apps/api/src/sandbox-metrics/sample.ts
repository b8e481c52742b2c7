import { sql, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { SandboxMetricTable } from '@sandyard/db/schema/sandbox-metric'

export type Sample = Omit<Selectable<SandboxMetricTable>, 'sandbox_id' | 'team_id'>

/** The columns of a sample in Postgres, for `jsonb_to_recordset`. */
const COLUMNS = sql`
  sandbox_id text, team_id uuid, sampled_at timestamptz, cpu_count integer, cpu_used_pct real,
  mem_used bigint, mem_cache bigint, mem_total bigint, disk_used bigint, disk_total bigint
`

/** Stores samples in one statement; a sandbox that has a sample of this instant keeps it. */
export async function storeSamples(db: Db, samples: readonly Selectable<SandboxMetricTable>[]): Promise<void> {
  if (samples.length === 0) return
  await sql`
    insert into sandbox_metric select * from jsonb_to_recordset(${JSON.stringify(samples)}::jsonb) as sample (${COLUMNS})
    on conflict do nothing
  `.execute(db)
}
