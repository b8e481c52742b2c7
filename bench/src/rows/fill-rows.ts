import { sql } from 'kysely'
import type { World } from '../../../apps/api/test/support/control-plane.ts'
import { DEFAULT_EGRESS, type SandboxSpec } from '../../../packages/runtime/src/types.ts'
import { Secret } from '../../../packages/kit/src/config/secret.ts'

/** Of the fake runtime when no other is given. */
const INSTALLATION = 'fake'
const HOUR_MS = 3_600_000

/**
 * Running sandboxes of one team, as rows and on the fake engine; those that exist stay. Half of them have the metadata `tier=1`, one in a
 * hundred `group=1`. They are an hour old, so no part treats them as new.
 */
export async function fillSandboxes({ database, engine, ...world }: World, rows: number, daemonPort: number): Promise<void> {
  const { teamId, templateId, buildId } = world
  await sql`
    insert into sandbox (
      sandbox_id, incarnation, team_id, template_id, build_id, state, endpoint_host, endpoint_daemon_port, is_secure, metadata,
      created_at, started_at, expires_at
    )
    select 'i' || lpad(n::text, 12, '0'), 1, ${teamId}::uuid, ${templateId}, ${buildId}::uuid, 'running', '127.0.0.1', ${daemonPort}, true,
      jsonb_build_object('user', 'user-' || n, 'tier', (n % 2)::text, 'group', (n % 100)::text),
      clock_timestamp() - interval '2 hours', clock_timestamp() - make_interval(secs => 3600 + n * 0.1), clock_timestamp() + interval '1 day'
    from generate_series(1, ${rows}::int) as n
    on conflict do nothing
  `.execute(database.db)
  // As autovacuum does within a minute: counts need not look at each row then.
  await sql`vacuum analyze sandbox`.execute(database.db)
  const createdAt = new Date(Date.now() - HOUR_MS)
  const endpoint = { host: '127.0.0.1', daemonPort }
  for (let n = 1; n <= rows; n++) {
    const sandboxId = `i${String(n).padStart(12, '0')}`
    const spec: SandboxSpec = {
      sandboxId,
      incarnation: 1,
      image: 'base:1',
      resources: { cpuCount: 2, memoryMib: 1024, diskMib: 4096 },
      instanceKey: new Secret(sandboxId),
      allowPrivilegeGain: true,
      mounts: [],
      egress: DEFAULT_EGRESS,
    }
    if (engine.find(INSTALLATION, spec) !== undefined) continue
    const contents = { files: new Map<string, string>(), original: new Map<string, string>(), memory: new Map<string, string>() }
    engine.put({
      installation: INSTALLATION,
      spec,
      endpoint,
      ...contents,
      startId: sandboxId,
      egress: DEFAULT_EGRESS,
      state: 'running',
      createdAt,
    })
  }
}

/** What an installation keeps of as many sandboxes that have ended: history, events and log lines; and a minute of samples of the running ones. */
export async function fillPast({ database: { db }, teamId, templateId, buildId }: World, rows: number): Promise<void> {
  const ids = sql`generate_series(1, ${rows}::int) as n`
  await sql`
    insert into sandbox_history (
      sandbox_id, incarnation, team_id, template_id, build_id, reason, cpu_count, memory_mib, disk_mib, created_at, started_at, ended_at, state_changes
    )
    select 'h' || n, 1, ${teamId}::uuid, ${templateId}, ${buildId}::uuid, 'killed', 2, 1024, 4096,
      clock_timestamp() - make_interval(hours => 3), clock_timestamp() - make_interval(hours => 3),
      clock_timestamp() - make_interval(secs => 3600 + n), '[]'
    from ${ids}
  `.execute(db)
  await sql`
    insert into event (team_id, kind, subject, data, created_at)
    select ${teamId}::uuid, kind, prefix || n, '{"incarnation": 1}', clock_timestamp() - make_interval(secs => 7200 - n * 0.1)
    from ${ids}, (values ('i', 'sandbox.starting'), ('i', 'sandbox.running'), ('h', 'sandbox.running'), ('h', 'sandbox.killing')) as made (prefix, kind)
  `.execute(db)
  await sql`
    insert into sandbox_log (sandbox_id, team_id, logged_at, level, message)
    select 'i' || lpad(n::text, 12, '0'), ${teamId}::uuid, clock_timestamp() - make_interval(secs => 3600), 'info', 'sandbox started'
    from ${ids}, generate_series(1, 3)
  `.execute(db)
  await sql`
    insert into sandbox_metric
    select sandbox_id, team_id, clock_timestamp() - make_interval(secs => age), 2, 1.5, 16000000, 1, 1000000000, 1000000, 1000000000
    from sandbox, generate_series(0, 55, 5) as age
  `.execute(db)
  for (const table of ['sandbox_history', 'event', 'sandbox_log', 'sandbox_metric'])
    await sql`vacuum analyze ${sql.table(table)}`.execute(db)
}
