import { expect, it } from 'vitest'
import { parseApiConfig } from '../src/config.ts'
import { openBenchApp } from './support/bench-app.ts'
import { BuildBench } from './support/build-bench.ts'

const CAPACITY = 'Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly'

it('measures the host of the engine: refuses a create that it has no memory or disk for, and serves others', async () => {
  await using stack = new AsyncDisposableStack()
  const bench = stack.use(await BuildBench.open())
  await bench.seedBase()
  const { memory, disk } = await bench.runtime.vitals(AbortSignal.timeout(20_000))
  if (memory === undefined || disk === undefined) throw new Error('the engine does not say what its host has')
  const on = (settings: Record<string, string>) =>
    openBenchApp(stack, bench, parseApiConfig({ SANDYARD_SHORTAGE_WAIT: '1s', SANDYARD_POOL_MEMORY: '0', ...settings }))
  const create = async (settings: Record<string, string>) => (await on(settings)).call('POST', '/v2/sandboxes', { templateID: 'base' })
  expect(await create({ SANDYARD_HOST_MEMORY_RESERVE: `${memory.totalBytes}B` })).toMatchObject({
    status: 503,
    body: { message: `${CAPACITY}. The host is short of memory.`, error_code: 'sandbox_capacity_unavailable' },
  })
  expect(await create({ SANDYARD_HOST_DISK_RESERVE: `${disk.sizeBytes}B` })).toMatchObject({
    status: 503,
    body: { message: `${CAPACITY}. The disk of the Docker engine is full.`, error_code: 'sandbox_capacity_unavailable' },
  })
  expect(await bench.runtime.list()).toEqual([])
  expect((await create({})).status).toBe(201)
}, 240_000)
