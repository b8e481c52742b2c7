import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { claimBuild } from '../src/builds/queue/claim-build.ts'
import { nextJobOf, waitingTeams } from '../src/builds/queue/queue-queries.ts'
import { PLAN } from './support/builds.ts'
import { createWorld, type World } from './support/control-plane.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
  const { db } = world.database
  // One team has most of the queue, a few others have one job each.
  await sql`
    insert into team (name, slug, email) select 'team ' || n, 'team-' || n, 'x@y.test' from generate_series(1, 20) as n
  `.execute(db)
  await sql`
    with made as (
      insert into build (template_id, status, cpu_count, memory_mib, disk_mib, default_user, default_workdir)
      select ${world.templateId}, 'building', 1, 128, 1, 'user', '/' from generate_series(1, 20000)
      returning build_id
    ), numbered as (
      select build_id, row_number() over () as n from made
    ), teams as (
      select id, row_number() over (order by id) as n from team
    )
    insert into build_job (build_id, team_id, plan, queued_at)
    select build_id, case when numbered.n % 100 = 0 then teams.id else ${world.teamId}::uuid end, ${JSON.stringify(PLAN)}::jsonb,
      clock_timestamp() - make_interval(secs => 20000 - numbered.n)
    from numbered join teams on teams.n = numbered.n / 100 % 20 + 1
  `.execute(db)
  await sql`analyze build_job`.execute(db)
  await sql`analyze build`.execute(db)
})
afterAll(() => world[Symbol.asyncDispose]())

/** The scan nodes of the plan on the job tables. */
function scansOf(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(scansOf)
  if (plan === null || typeof plan !== 'object') return []
  const { 'Node Type': type, 'Relation Name': relation } = plan as Record<string, unknown>
  const own = relation === 'build_job' ? [String(type)] : []
  return [...own, ...Object.values(plan).flatMap(scansOf)]
}

it('finds the next job by an index in a long queue', async () => {
  const { db } = world.database
  for (const query of [waitingTeams(db), nextJobOf(db, world.teamId)]) {
    const scans = scansOf(await query.explain('json'))
    expect(scans.length).toBeGreaterThan(0)
    for (const scan of scans) expect(scan).toMatch(/^Index (Only )?Scan$/)
  }
})

it('serves teams in turns when one team has most of the queue', async () => {
  const teams = []
  for (let turn = 0; turn < 6; turn += 1) {
    teams.push((await claimBuild(world.database, { serverId: 1, timeoutMs: 3_600_000 }))?.teamId)
  }
  expect(new Set(teams).size).toBe(6)
})
