import type { Tables } from '@sandyard/db/schema/tables'
import type { UpdateObject } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { addCaller, type Caller } from './build-callers.ts'
import { createWorld, type Answer, type Server, type World } from './control-plane.ts'

/** A new team in each test, and two servers, whose listeners hear of changed limits. */
export interface LimitedTeam {
  readonly world: World
  readonly api: Server
  readonly other: Server
  readonly caller: Caller
  /** Changes the row of the team. */
  readonly setLimits: (limits: UpdateObject<Tables, 'team'>) => Promise<unknown>
  readonly create: (body?: object) => Promise<Answer>
}

/** Registers the hooks of a file. The parts are there within tests. */
export function useLimitedTeam(): LimitedTeam {
  let world: World
  let api: Server
  let other: Server
  let caller: Caller
  let count = 0
  beforeAll(async () => {
    world = await createWorld()
    api = await world.startServer({ loops: true })
    other = await world.startServer({ loops: true })
  })
  afterAll(() => world[Symbol.asyncDispose]())
  beforeEach(async () => {
    count += 1
    caller = await addCaller(world, api, `Team${count}`)
  })
  return {
    get world() {
      return world
    },
    get api() {
      return api
    },
    get other() {
      return other
    },
    get caller() {
      return caller
    },
    setLimits: (limits) => world.database.db.updateTable('team').set(limits).where('id', '=', caller.teamId).execute(),
    create: (body = {}) => caller.withKey('POST', '/v2/sandboxes', { templateID: 'base', ...body }),
  }
}
