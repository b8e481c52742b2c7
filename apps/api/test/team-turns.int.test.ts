import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { addCaller } from './support/build-callers.ts'
import { createWorld, waitFor } from './support/control-plane.ts'

it('creates of a team that wait for each other leave the connections to the database to other teams', async () => {
  await using world = await createWorld()
  const api = await world.startServer({ databaseUrl: world.database.url, env: { SANDYARD_MAX_SANDBOXES: '100' } })
  const [busy, other] = [await addCaller(world, api, 'Busy'), await addCaller(world, api, 'Other')]
  const body = { templateID: 'base' }
  const asked = await world.database.transaction(async (tx) => {
    await tx.selectFrom('team').select('id').where('id', '=', busy.teamId).forUpdate().execute()
    const waiting = Array.from({ length: 40 }, () => busy.withKey('POST', '/v2/sandboxes', body))
    await waitFor('the lock of the team', async () => {
      const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`.execute(
        world.database.db,
      )
      return rows.length > 1
    })
    expect((await other.withKey('POST', '/v2/sandboxes', body)).status).toBe(201)
    return { waiting }
  })
  const answers = await Promise.all(asked.waiting)
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 40 }, () => 201))
})
