import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Attack, Target } from '../../../tests/long/attacks/attack.ts'
import { halfOpen } from '../../../tests/long/attacks/half-open.ts'
import { startHostileService, type HostileService } from '../../../tests/long/attacks/hostile-service.ts'
import { interimFlood } from '../../../tests/long/attacks/interim-flood.ts'
import { largeHeads } from '../../../tests/long/attacks/large-heads.ts'
import { pipelining } from '../../../tests/long/attacks/pipelining.ts'
import { slowReaders } from '../../../tests/long/attacks/slow-readers.ts'
import { slowWriters } from '../../../tests/long/attacks/slow-writers.ts'
import { unknownSandboxes } from '../../../tests/long/attacks/unknown-sandboxes.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let service: HostileService
let proxy: RunningProxy
let target: Target

beforeAll(async () => {
  service = await startHostileService(0, '127.0.0.1')
  proxy = await startProxy(routes, { headersTimeoutMs: 2000 })
  routes.run('i1', 9)
  target = { apiUrl: '', apiKey: '', proxyUrl: proxy.url, sandboxId: 'i1', token: '', port: service.port }
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})
// The resources of an attack are free again after it.
afterEach(() => until('no request and no connection to a sandbox', () => proxy.ctx.clients.counts.requests + proxy.ctx.tracker.count === 0))

it.each<[string, Attack, RegExp]>([
  ['ends floods of interim answers', interimFlood, /readers got 502: 4$/],
  ['serves pipelined requests one at a time', pipelining, /^3000 answers in .*, 1 at once in the service$/],
  ['closes half-open connections', halfOpen, /^0 open after .*; (?=.*408: 400)(?=.*none: 200)/],
  ['applies back-pressure to the services of slow readers', slowReaders, /^the services could write \d+\.\d MiB in all, \d\.\d MiB each/],
  ['serves slow writers', slowWriters, /^200: 100$/],
  [
    'serves heads up to their limit',
    largeHeads,
    /^one of 60 KiB 200: 20; many in 30 KiB 200: 20; one of 80 KiB 431: 20; many in 200 KiB 431: 20$/,
  ],
  ['answers for unknown sandboxes', unknownSandboxes, /^10000 answers in .*, the last ones 502: 50$/],
])('under attack the proxy %s', { timeout: 120_000 }, async (_, attack, observed) => {
  const result = await attack.run(target, AbortSignal.timeout(60_000))
  expect(result.observed).toMatch(observed)
})
