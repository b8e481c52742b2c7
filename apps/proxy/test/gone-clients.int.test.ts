import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
const begun: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((_, res) => void begun.push(res))
  proxy = await startProxy(routes)
  routes.run('i1', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

it('notices during a silent answer that a client is gone which has sent bytes that are no request', async () => {
  using client = new RawClient(proxy.port)
  client.send(['GET / HTTP/1.1', `Host: ${service.port}-i1.x`], 'no request\r\n\r\n')
  await until('the request', () => begun.length === 1)
  begun[0]?.write('begun')
  await client.until('begun')
  expect(proxy.ctx.tracker.count).toBe(1)
  client.socket.resetAndDestroy()
  await until('no open connection', () => proxy.ctx.tracker.count === 0)
})
