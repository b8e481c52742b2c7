import { sql } from 'kysely'
import type { World } from '../../../apps/api/test/support/control-plane.ts'

/** The template of which `fillLists` makes the builds and tags. */
export const TAGGED = 'tagged'
/** One statement must end before the timeout of statements. */
const BATCH = 10_000

/** Rows of one team for every paged list: sandboxes, templates, snapshots, and the builds and tags of one template. */
export async function fillLists(world: World, rows: number): Promise<void> {
  const { db } = world.database
  await sql`insert into template (template_id, team_id, source) values (${TAGGED}, ${world.teamId}::uuid, 'template')`.execute(db)
  // Their cached plans are those of an empty table.
  await sql`alter table tag_assignment disable trigger user`.execute(db)
  for (let from = 1; from <= rows; from += BATCH) await fillBatch(world, from, Math.min(rows, from + BATCH - 1))
  await sql`alter table tag_assignment enable trigger user`.execute(db)
  await sql`
    update template set snapshotted_at = template.created_at where source = 'snapshot_template' and team_id = ${world.teamId}::uuid
  `.execute(db)
  for (const table of ['sandbox', 'template', 'build', 'tag_assignment']) await sql`vacuum analyze ${sql.table(table)}`.execute(db)
}

async function fillBatch({ database: { db }, teamId, templateId, buildId }: World, from: number, to: number): Promise<void> {
  const ids = sql`generate_series(${from}::int, ${to}::int) as n`
  const age = sql`clock_timestamp() - make_interval(secs => n * 0.5)`
  await sql`
    insert into sandbox (
      sandbox_id, incarnation, team_id, template_id, build_id, state, endpoint_host, endpoint_daemon_port, is_secure, metadata,
      created_at, started_at, expires_at
    )
    select 'i' || lpad(n::text, 12, '0'), 1, ${teamId}::uuid, ${templateId}, ${buildId}::uuid, 'running', '127.0.0.1', 9, true, '{}',
      ${age}, ${age}, clock_timestamp() + interval '1 day'
    from ${ids}
  `.execute(db)
  for (const [prefix, source] of [
    ['t', 'template'],
    ['s', 'snapshot_template'],
  ] as const) {
    await sql`
      insert into template (template_id, team_id, source, created_at) select ${prefix} || n, ${teamId}::uuid, ${source}, ${age} from ${ids}
    `.execute(db)
    await sql`
      with made as (
        insert into build (template_id, status, cpu_count, memory_mib, disk_mib, image, default_user, default_workdir, created_at, finished_at)
        select ${prefix} || n, 'ready', 2, 1024, 512, 'image:1', 'user', '/home/user', ${age}, ${age} from ${ids}
        returning template_id, build_id, created_at
      )
      insert into tag_assignment (template_id, build_id, tag, created_at) select template_id, build_id, 'default', created_at from made
    `.execute(db)
  }
  await sql`
    with made as (
      insert into build (template_id, status, cpu_count, memory_mib, disk_mib, image, default_user, default_workdir, created_at, finished_at)
      select ${TAGGED}, 'ready', 2, 1024, 512, 'image:1', 'user', '/home/user', ${age}, ${age} from ${ids}
      returning build_id, created_at
    )
    insert into tag_assignment (template_id, build_id, tag, created_at) select ${TAGGED}, build_id, 'default', created_at from made
  `.execute(db)
}
