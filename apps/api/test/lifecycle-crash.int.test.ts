import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, reconcileNow, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

/** Every row is settled, its sandbox on the engine is in the same state, and there are no other sandboxes. */
async function expectAgreement(): Promise<{ id: string; state: string }[]> {
  const rows = await world.database.db.selectFrom('sandbox').select(['sandbox_id', 'state', 'pause_keep']).execute()
  const wanted = rows.map((row) => {
    const paused = row.pause_keep === 'files' ? 'stopped' : 'frozen'
    return `${row.sandbox_id} ${row.state === 'paused' ? paused : 'running'}`
  })
  expect(rows.every(({ state }) => state === 'running' || state === 'paused')).toBe(true)
  const found = [...world.engine.sandboxes.values()].map(({ spec, state }) => `${spec.sandboxId} ${state}`)
  expect(found.toSorted()).toEqual(wanted.toSorted())
  return rows.map((row) => ({ id: row.sandbox_id, state: row.state }))
}

async function create(): Promise<string> {
  return (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 } })).body.sandboxID
}

/** The sandbox can be used, paused and resumed again: nothing of it was lost. */
async function expectUsable(id: string): Promise<void> {
  expect((await api.call('POST', `/sandboxes/${id}/connect`, { body: { timeout: 60 } })).status).toBeOneOf([200, 201])
  expect((await api.call('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
  expect((await api.call('POST', `/sandboxes/${id}/resume`)).status).toBe(201)
}

describe('an engine that restarts', () => {
  it('leaves frozen sandboxes with their files, and the history says so', async () => {
    const id = await create()
    await api.call('POST', `/sandboxes/${id}/pause`)
    world.engine.stop()
    world.engine.start()
    await reconcileNow(api)
    expect(await expectAgreement()).toEqual([{ id, state: 'paused' }])
    const events = await world.database.db
      .selectFrom('event')
      .select(['kind', 'data'])
      .where('subject', '=', id)
      .orderBy('event_id')
      .execute()
    expect(events.at(-1)).toMatchObject({ kind: 'sandbox.memory_lost', data: { reason: 'engine_restarted', actor: { kind: 'server' } } })
    await expectUsable(id)
  })
})

describe('a runtime that fails', () => {
  it.each([true, false])('to pause (memory: %s): 500, and the sandbox runs on', async (memory) => {
    const id = await create()
    api.runtime.faults.failBefore('pause')
    const answer = await api.call('POST', `/sandboxes/${id}/pause`, { body: { memory } })
    expect(answer).toMatchObject({ status: 500, body: { code: 500, message: 'Error pausing sandbox' } })
    expect(await expectAgreement()).toEqual([{ id, state: 'running' }])
    await expectUsable(id)
  })

  it('to say that it has paused: the sandbox runs on', async () => {
    const id = await create()
    api.runtime.faults.failAfter('pause')
    expect((await api.call('POST', `/sandboxes/${id}/pause`)).status).toBe(500)
    expect(await expectAgreement()).toEqual([{ id, state: 'running' }])
    await expectUsable(id)
  })

  it.each(['failBefore', 'failAfter'] as const)('to resume (%s): 500, and the sandbox is paused with its memory', async (fail) => {
    const id = await create()
    await api.call('POST', `/sandboxes/${id}/pause`)
    const before = await world.database.db.selectFrom('sandbox').select(['started_at', 'paused_at']).executeTakeFirstOrThrow()
    api.runtime.faults[fail]('resume')
    const answer = await api.call('POST', `/sandboxes/${id}/resume`, { body: { timeout: 60 } })
    expect(answer).toMatchObject({ status: 500, body: { error_code: 'sandbox_create_failed' } })
    expect(await expectAgreement()).toEqual([{ id, state: 'paused' }])
    expect(await world.database.db.selectFrom('sandbox').select(['started_at', 'paused_at']).executeTakeFirstOrThrow()).toEqual(before)
    await expectUsable(id)
  })

  it('to snapshot: 500, and the sandbox runs on', async () => {
    const id = await create()
    api.runtime.faults.failAfter('snapshot')
    expect((await api.call('POST', `/sandboxes/${id}/snapshots`)).status).toBeGreaterThanOrEqual(500)
    expect(await expectAgreement()).toEqual([{ id, state: 'running' }])
    expect((await api.call('GET', '/snapshots')).body).toEqual([])
    await expectUsable(id)
  })
})
