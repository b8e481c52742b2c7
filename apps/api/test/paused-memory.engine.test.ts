import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createApp } from '../src/app.ts'
import { parseApiConfig } from '../src/config.ts'
import { createContext, type AppContext } from '../src/context.ts'
import type { ApiInstance } from '../src/http/api-instance.ts'
import { freePausedMemory } from '../src/sandboxes/lifecycle/paused-memory.ts'
import { Repairs } from '../src/sandboxes/repair/repairs.ts'
import { BuildBench } from './support/build-bench.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const stack = new AsyncDisposableStack()
let bench: BuildBench
let ctx: AppContext
let app: ApiInstance

/** A share that no sandbox fits into. */
const TINY = '0.000001'

beforeAll(async () => {
  bench = stack.use(await BuildBench.open())
  await bench.seedBase()
  ctx = stack.use(
    await createContext(parseApiConfig({ SANDYARD_PAUSED_MEMORY: TINY }), {
      database: bench.database,
      runtime: bench.runtime,
      log: silentLogger(),
    }),
  )
  app = await createApp(ctx)
  stack.defer(() => app.close())
})
afterAll(() => stack.disposeAsync())

async function call(method: 'GET' | 'POST', url: string, payload: object = {}): Promise<{ status: number; body: Record<string, string> }> {
  const headers = { 'x-api-key': bench.apiKey }
  const answer = await app.inject({ method, url, headers, ...(method === 'POST' && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}

async function createPaused(lifecycle: object = {}): Promise<string> {
  const { body } = await call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 600, ...lifecycle })
  const id = body['sandboxID'] ?? ''
  expect(await call('POST', `/sandboxes/${id}/pause`)).toMatchObject({ status: 204 })
  return id
}

/** Runs one pass of the loop and waits for the pauses that it has begun. */
async function free(pausedMemoryBytes: number): Promise<void> {
  const repairs = new Repairs(ctx.log.sandboxes)
  await freePausedMemory({ ...ctx.sandboxes, repairs, pausedMemoryBytes })
  await repairs.drain()
}

async function memoryOf(ids: readonly string[]): Promise<number> {
  const usage = await bench.runtime.usage(ids.map((sandboxId) => ({ sandboxId, incarnation: 1 })))
  return ids.reduce((sum, id) => sum + (usage.get(id)?.memoryBytes ?? 0), 0)
}

async function kept(ids: readonly string[]): Promise<(string | undefined)[]> {
  const { db } = bench.database
  const rows = await db.selectFrom('sandbox').select(['sandbox_id', 'pause_keep']).where('sandbox_id', 'in', ids).execute()
  const states = new Map((await bench.runtime.list()).map(({ sandboxId, state }) => [sandboxId, state]))
  return ids.map((id) => `${rows.find((row) => row.sandbox_id === id)?.pause_keep} ${states.get(id)}`)
}

it('keeps the files only of the longest-paused sandboxes when memory is short, those that traffic wakes last, and the history says so', async () => {
  const woken = await createPaused({ autoPause: true, autoResume: { enabled: true } })
  const older = await createPaused()
  const newer = await createPaused()
  const all = [woken, older, newer]
  const needed = await memoryOf(all)
  expect(needed).toBeGreaterThan(0)

  await free(needed * 2)
  expect(await kept(all)).toEqual(['memory frozen', 'memory frozen', 'memory frozen'])
  // Less than all need, and more than two of them: the kernel counts a little less or more at each look.
  await free(Math.floor(needed * 0.9))
  expect(await kept(all)).toEqual(['memory frozen', 'files stopped', 'memory frozen'])
  await free(Math.floor((await memoryOf([woken, newer])) * 0.8))
  expect(await kept(all)).toEqual(['memory frozen', 'files stopped', 'files stopped'])
  await free(ctx.runtime.host().memoryBytes * ctx.config.pausedMemoryShare)
  expect(await kept(all)).toEqual(['files stopped', 'files stopped', 'files stopped'])

  for (const id of all) {
    const events = await bench.database.db
      .selectFrom('event')
      .select(['kind', 'data'])
      .where('subject', '=', id)
      .orderBy('event_id')
      .execute()
    expect(events.at(-1)).toMatchObject({ kind: 'sandbox.memory_lost', data: { reason: 'memory_short', actor: { kind: 'server' } } })
    expect(await call('GET', `/sandboxes/${id}`)).toMatchObject({ status: 200, body: { state: 'paused', pauseMode: 'filesystem' } })
  }
  expect(await call('POST', `/sandboxes/${older}/connect`, { timeout: 60 })).toMatchObject({ status: 201 })
})
