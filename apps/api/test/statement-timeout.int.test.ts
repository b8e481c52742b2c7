import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

/** The answer to a request whose statement waits for a lock until Postgres ends it. */
async function answerAfterTimeout(ask: () => Promise<Answer>): Promise<Answer> {
  return world.database.transaction(async (tx) => {
    await sql`lock table sandbox in access exclusive mode`.execute(tx)
    const answer = ask()
    await waitFor('the end of a statement', async () => {
      // Not in the transaction, which would see the same activity each time.
      const { rows } = await sql`
        select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      `.execute(world.database.db)
      return rows.length > 0
    })
    return answer
  })
}

it('answers 503 when a statement takes too long, and is repeated only where nothing may have changed', async () => {
  const body = { code: 503, message: 'The database took too long: try again' }
  const listed = await answerAfterTimeout(() => api.call('GET', '/v2/sandboxes'))
  expect(listed).toMatchObject({ status: 503, body, headers: { 'retry-after': '1' } })
  expect(listed.headers).not.toHaveProperty('should-retry')
  const create = (headers: Record<string, string> = {}) => api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, headers })
  expect(await answerAfterTimeout(() => create())).toMatchObject({
    status: 503,
    body,
    headers: { 'retry-after': '1', 'should-retry': 'false' },
  })
  expect((await create()).status).toBe(201)
})
