import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FakeSandbox } from '@sandyard/runtime/fake/fake-engine'
import { reapExpired } from '../src/sandboxes/expiry-reaper.ts'
import { Repairs } from '../src/sandboxes/repairs.ts'
import { createWorld, endLease, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

async function create(fields: object = {}): Promise<string> {
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, ...fields } })).body.sandboxID
}

const rowOf = (id: string) => world.database.db.selectFrom('sandbox').selectAll().where('sandbox_id', '=', id).executeTakeFirstOrThrow()

function onEngine(id: string): FakeSandbox {
  const found = [...world.engine.sandboxes.values()].find(({ spec }) => spec.sandboxId === id)
  if (found === undefined) throw new Error(`the engine has no sandbox ${id}`)
  return found
}

describe('the pause at the end time', () => {
  it.each([true, false])('does not touch the sandbox without the lease of the server (memory: %s)', async (autoPauseMemory) => {
    const id = await create({ autoPause: true, autoPauseMemory })
    await world.database.db
      .updateTable('sandbox')
      .set({ expires_at: sql<Date>`clock_timestamp()` })
      .execute()
    await endLease(world, api)
    const repairs = new Repairs(api.ctx.log.sandboxes)
    await reapExpired({ ...api.ctx.sandboxes, repairs, engineId: api.ctx.engineId })
    await repairs.drain()
    expect((await rowOf(id)).state).toBe('running')
    expect(onEngine(id).state).toBe('running')
  })
})
