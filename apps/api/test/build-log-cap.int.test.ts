import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { randomId } from '@sandyard/kit/ids/ids'
import { collectLogs } from '../src/builds/upkeep/collect-logs.ts'
import { createWorld, type World } from './support/control-plane.ts'

const DAY_MS = 86_400_000
const AGES = { logMs: 30 * DAY_MS, templateMs: 30 * DAY_MS }
const LINES = 6000

let world: World
beforeAll(async () => void (world = await createWorld()))
afterAll(() => world[Symbol.asyncDispose]())

/** A build of a team that ended so many days ago, with a log that counts as 400 MiB. */
async function makeBuild(teamId: string, daysAgo: number): Promise<string> {
  const { db } = world.database
  const template_id = randomId(20)
  await db.insertInto('template').values({ template_id, team_id: teamId, source: 'template' }).execute()
  const row = {
    template_id,
    status: 'uploaded',
    image: 'x',
    cpu_count: 1,
    memory_mib: 128,
    disk_mib: 1,
    default_user: 'user',
    default_workdir: '/',
  } as const
  const finished_at = new Date(Date.now() - daysAgo * DAY_MS)
  const log = { log_count: LINES, log_bytes: 400 * 1024 ** 2 }
  const { build_id } = await db
    .insertInto('build')
    .values({ ...row, ...log, finished_at })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  await sql`
    insert into build_log (build_id, seq, time, level, message)
    select ${build_id}::uuid, n, clock_timestamp(), 'info', 'm' from generate_series(1, ${LINES}::int) as n
  `.execute(db)
  return build_id
}

it('the oldest logs of a team that has more than 1 GiB of them are removed, and those of no other team', async () => {
  const { db } = world.database
  await seedIdentity(world.database, { teamName: 'Other', email: 'other@acme.test' })
  const other = await db.selectFrom('team').select('id').where('name', '=', 'Other').executeTakeFirstOrThrow()
  const oldest = await makeBuild(world.teamId, 6)
  const kept = [await makeBuild(world.teamId, 5), await makeBuild(world.teamId, 4), await makeBuild(other.id, 6)]
  await collectLogs(db, AGES)
  const { rows } = await sql<{ build_id: string; lines: number }>`
    select build_id, count(*) as lines from build_log group by build_id
  `.execute(db)
  expect(new Map(rows.map(({ build_id, lines }) => [build_id, lines]))).toEqual(new Map(kept.map((buildId) => [buildId, LINES])))
  const row = await db.selectFrom('build').select(['log_count', 'log_bytes']).where('build_id', '=', oldest).executeTakeFirstOrThrow()
  expect(row).toEqual({ log_count: 0, log_bytes: 0 })
})
