import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
beforeEach(async () => {
  world = await createWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const POOL = { SANDYARD_POOL_MEMORY: '0.5', SANDYARD_POOL_CPU: '1' }
const startServer = (): Promise<Server> => world.startServer({ env: POOL })
const create = (api: Server, body: object = {}): Promise<Answer> =>
  api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...body } })
const rowsOfPool = () => world.database.db.selectFrom('parked_sandbox').selectAll().execute()

async function fill({ ctx }: Server): Promise<void> {
  await waitFor('a pause after the creates', () => ctx.pool.isQuiet)
  await ctx.pool.fill()
  await ctx.pool.settled()
}

describe('a create', () => {
  it('commits its claim asynchronously where nothing is changed before the daemon knows it', async () => {
    const api = await startServer()
    await fill(api)
    expect(await rowsOfPool()).toHaveLength(1)
    const { database } = world
    const settingAfter = (claim?: { readonly isDurable: boolean }): Promise<string | undefined> =>
      database.transaction(async (tx) => {
        // The Postgres of the tests has it off.
        await sql`set local synchronous_commit = on`.execute(tx)
        const claiming = claim && api.ctx.pool.claim(world.buildId, claim.isDurable)
        // As a part of a statement that reads only some of its columns, as in a create.
        const claimed = claiming && (await sql`with claimed as (${claiming.statement}) select sandbox_id from claimed`.execute(tx))
        if (claimed !== undefined) expect(claimed.rows).toHaveLength(1)
        const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(tx)
        return rows[0]?.synchronous_commit
      })
    expect(await settingAfter()).toBe('on')
    expect(await settingAfter({ isDurable: true })).toBe('on')
    await fill(api)
    expect(await settingAfter({ isDurable: false })).toBe('off')
    expect(await settingAfter()).toBe('on')
  })

  it.each([
    ['it has the daemon, which answers late', { losing: 204, next: 409, incarnation: 2 }],
    ['it has the daemon, which does not answer', { losing: 500, next: 409, incarnation: 2 }],
    ['the next one has the daemon', { losing: 409, next: 204, incarnation: 1 }],
  ])('whose claim a crash of the database has lost fails, and the next one has a sandbox of its own: %s', async (_, expected) => {
    const [first, second] = [await startServer(), await startServer()]
    await fill(first)
    const [parked] = await rowsOfPool()
    const id = parked?.sandbox_id ?? ''
    const answer = Promise.withResolvers<number>()
    world.daemon.answers.push(answer.promise, expected.next)
    const losing = create(first, { metadata: { by: 'first' } })
    await waitFor('the claim', async () => (await rowsOfPool()).length === 0)
    // What is left after the crash: the claim was never there.
    const { db } = world.database
    await db.deleteFrom('sandbox').where('sandbox_id', '=', id).execute()
    await db
      .insertInto('parked_sandbox')
      .values({ ...(parked as NonNullable<typeof parked>) })
      .execute()
    const { status, body } = await create(second, { metadata: { by: 'second' } })
    expect([status, body.sandboxID]).toEqual([201, id])
    answer.resolve(expected.losing)
    expect((await losing).status).toBe(500)
    for (const { ctx } of [first, second]) await ctx.sandboxes.repairs.drain()
    expect((await second.call('GET', `/sandboxes/${id}`)).body).toMatchObject({ state: 'running', metadata: { by: 'second' } })
    await waitFor('the end of the lost one', () => world.engine.sandboxes.size === 1)
    expect([...world.engine.sandboxes.values()].map(({ spec }) => spec.incarnation)).toEqual([expected.incarnation])
  })
})
