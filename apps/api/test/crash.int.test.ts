import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'
import { crashPoints, crashServer, repairAbandoned } from './support/crash-server.ts'
import type { CrashPoint } from './support/fuse.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

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
  it('leaves nothing if the daemon has not answered', async () => {
    world.daemon.answers.push('hang')
    await crashAt({ step: 2, when: 'after' }, (dying) => dying.call('POST', '/v2/sandboxes', { body: NEW }))
    await repairAbandoned(world, api)
    await expectAgreement(0)
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
