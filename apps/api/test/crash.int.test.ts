import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reapExpired } from '../src/sandboxes/repair/expiry-reaper.ts'
import { Repairs } from '../src/sandboxes/repair/repairs.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { crashPoints, crashServer, repairAbandoned } from './support/crash-server.ts'
import { Fuse, type CrashPoint } from './support/fuse.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

const KEY = { 'idempotency-key': 'one-create' }
const NEW = { templateID: 'base', timeout: 600 }

const crashAt = (point: CrashPoint, ask: (dying: Server) => unknown): Promise<void> => crashServer(world, point, ask)

const rows = () => world.database.db.selectFrom('sandbox').select(['sandbox_id', 'state']).execute()
const sandboxesOfEngine = () => [...world.engine.sandboxes.values()].map(({ spec }) => spec.sandboxId)

/** Checks that every row is `running` and has a sandbox, and that every sandbox has a row. */
async function expectAgreement(count: number): Promise<void> {
  const left = await rows()
  expect(left.map(({ state }) => state)).toEqual(left.map(() => 'running'))
  expect(left.map(({ sandbox_id }) => sandbox_id).sort()).toEqual(sandboxesOfEngine().sort())
  expect(left).toHaveLength(count)
}

describe('a server that is killed during a create', () => {
  // Reservation, runtime, running.
  it.each(crashPoints(3))('$when step $step leaves one sandbox or none, and the idempotency key matches it', async (point) => {
    await crashAt(point, (dying) => dying.call('POST', '/v2/sandboxes', { body: NEW, headers: KEY }))

    const early = await api.call('POST', '/v2/sandboxes', { body: NEW, headers: KEY })
    if (early.status === 409) {
      expect(early.body).toMatchObject({ code: 409, error_code: 'idempotency_in_progress' })
      expect(early.headers).toMatchObject({ 'should-retry': 'true', 'retry-after': '1' })
    } else expect(early.status).toBe(201)

    await repairAbandoned(world, api)
    const late = await api.call('POST', '/v2/sandboxes', { body: NEW, headers: KEY })
    expect(late.status).toBe(201)
    if (early.status === 201) expect(late.body).toEqual(early.body)
    await expectAgreement(1)
    expect(sandboxesOfEngine()).toEqual([late.body.sandboxID])
  })

  it('leaves nothing if the daemon has not answered', async () => {
    world.daemon.answers.push('hang')
    await crashAt({ step: 2, when: 'after' }, (dying) => dying.call('POST', '/v2/sandboxes', { body: NEW }))
    await repairAbandoned(world, api)
    await expectAgreement(0)
  })
})

describe('a server that is killed during the end of a sandbox', () => {
  // State, runtime, row.
  it.each(crashPoints(3))('by request, $when step $step, leaves nothing or a running sandbox', async (point) => {
    const { body } = await api.call('POST', '/v2/sandboxes', { body: NEW })
    await crashAt(point, (dying) => dying.call('DELETE', `/sandboxes/${body.sandboxID}`))
    await repairAbandoned(world, api)
    const wasTold = !(point.step === 1 && point.when === 'before')
    await expectAgreement(wasTold ? 0 : 1)
    expect((await api.call('GET', `/sandboxes/${body.sandboxID}`)).status).toBe(wasTold ? 404 : 200)
  })

  it.each(crashPoints(3))('by expiry, $when step $step, leaves nothing after another server has started', async (point) => {
    const { body } = await api.call('POST', '/v2/sandboxes', { body: NEW })
    const fuse = new Fuse(point)
    const dying = await world.startServer({ fuse })
    await api.call('POST', `/sandboxes/${body.sandboxID}/timeout`, { body: { timeout: 0 } })
    const repairs = new Repairs(dying.ctx.log.sandboxes)
    void reapExpired({ ...dying.ctx.sandboxes, repairs, engineId: dying.ctx.engineId })
    await fuse.blown

    await world.startServer({ loops: true })
    await repairAbandoned(world, api)
    await waitFor('the removal of the sandbox', async () => (await rows()).length === 0 && sandboxesOfEngine().length === 0)
  })

  it('after a failed start leaves nothing', async () => {
    for (const point of crashPoints(5).slice(4)) {
      world.daemon.answers.push(401)
      await crashAt(point, (dying) => dying.call('POST', '/v2/sandboxes', { body: NEW }))
      await repairAbandoned(world, api)
      await expectAgreement(0)
    }
  })
})
