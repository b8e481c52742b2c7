import { afterAll, beforeAll, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { answerJson, startStandInApi, type StandInApi } from './support/stand-in-api.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

/** More than the calls to the control plane at once. */
const MANY = 70

let routes: MemoryRoutes
let api: StandInApi
let proxy: RunningProxy
beforeAll(async () => {
  routes = new MemoryRoutes()
  api = await startStandInApi()
  proxy = await startProxy(routes, { apiInternalUrl: api.url })
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const pause = (sandboxId: string, teamId: string): void =>
  routes.put({ sandboxId, teamId, incarnation: 1, state: 'paused', endpoint: { host: '127.0.0.1', daemonPort: 9 }, wakes: true })
const visit = async (sandboxId: string): Promise<number> =>
  (await fetch(proxy.url, { headers: { 'E2b-Sandbox-Id': sandboxId, 'E2b-Sandbox-Port': '49983' } })).status

it('the wakes of a team do not wait for the many of another one', async () => {
  api.handle = (req, res) => {
    if (req.url?.includes('/other/') === true) answerJson(res, 403)
  }
  pause('other', 'other team')
  const ids = Array.from({ length: MANY }, (_, n) => `busy${n}`)
  for (const id of ids) pause(id, 'busy team')
  const visits = ids.map(visit)
  await until('their wakes', () => proxy.ctx.liveRoutes.waiting === MANY && api.asked.length > 0)
  expect(await visit('other')).toBe(403)
  // The rest of the busy team have their turns when those in flight have ended.
  api.handle = (_, res) => answerJson(res, 404)
  for (const res of api.open) answerJson(res, 404)
  expect(new Set(await Promise.all(visits))).toEqual(new Set([502]))
  expect(api.asked.length).toBe(MANY + 1)
})
