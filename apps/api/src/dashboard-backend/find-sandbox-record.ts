import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'

interface StoredRecord {
  readonly sandbox_id: string
  readonly template_id: string
  readonly alias: string | null
  readonly cpu_count: number
  readonly memory_mib: number
  readonly disk_mib: number
  readonly created_at: Date
  /** Null when it never ran. */
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

/** A sandbox of the team, living or in the history. Undefined: unknown, of another team, or not kept any more. */
export async function findSandboxRecord(db: Db, teamId: string, sandboxId: string): Promise<StoredRecord | undefined> {
  const text = sandboxId.replaceAll('\0', '')
  const { rows } = await sql<StoredRecord>`
    select sandbox.sandbox_id, sandbox.template_id, sandbox.alias, build.cpu_count, build.memory_mib, build.disk_mib, sandbox.created_at,
      sandbox.started_at, null::timestamptz as ended_at
    from sandbox join build using (build_id) where sandbox.sandbox_id = ${text} and sandbox.team_id = ${teamId}
    union all
    select sandbox_id, template_id, alias, cpu_count, memory_mib, disk_mib, created_at, started_at, ended_at
    from sandbox_history where sandbox_id = ${text} and team_id = ${teamId}
    limit 1
  `.execute(db)
  return rows[0]
}
