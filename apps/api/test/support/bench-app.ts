import { createApp } from '@sandyard/api/app'
import type { ApiConfig } from '@sandyard/api/config'
import { createContext, type AppContext } from '@sandyard/api/context'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { expect } from 'vitest'
import type { BuildBench } from './build-bench.ts'

/** The control plane on the engine of a bench, without a listener. */
export interface BenchApp {
  readonly ctx: AppContext
  call(method: 'POST' | 'PUT', url: string, payload?: object): Promise<{ status: number; body: Record<string, string> }>
  /** Creates a sandbox of `base` and returns its id. */
  create(body?: object): Promise<string>
}

/** Opens it on a bench that has `base`. `stack` ends it. */
export async function openBenchApp(stack: AsyncDisposableStack, bench: BuildBench, config: ApiConfig): Promise<BenchApp> {
  const { database, runtime, apiKey } = bench
  const ctx = stack.use(await createContext(config, { database, runtime, log: silentLogger() }))
  const app = await createApp(ctx)
  stack.defer(() => app.close())
  const call: BenchApp['call'] = async (method, url, payload = {}) => {
    const answer = await app.inject({ method, url, headers: { 'x-api-key': apiKey }, payload })
    return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
  }
  return {
    ctx,
    call,
    async create(body = {}) {
      const { status, body: made } = await call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 600, ...body })
      expect([status, made['message']]).toEqual([201, undefined])
      return made['sandboxID'] ?? ''
    },
  }
}
