import { afterEach, beforeEach, expect, it } from 'vitest'
import { findEnd } from '../../../tests/long/chaos/after/reports.ts'
import { beginEnd, finishEnd, killing } from '../src/sandboxes/end/end-sandbox.ts'
import { SERVER } from '../src/events/actor.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

it('the crash drill knows an end that the row has and the history has not yet, and waits for one that is reported later', async () => {
  const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600 } })
  const ref = { sandboxId: body.sandboxID as string, incarnation: 1 }
  const find = (timeoutMs?: number): Promise<string | undefined> => findEnd(world.database.url, ref.sandboxId, timeoutMs)
  expect(await find(1)).toBeUndefined()
  const waiting = find()
  await beginEnd(world.database, ref, killing('lost', SERVER))
  expect(await waiting).toBe('lost')
  await finishEnd(api.ctx.sandboxes, ref)
  expect(await find(1)).toBe('lost')
})
