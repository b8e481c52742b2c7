import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '@sandyard/kit/config/parse-config'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { openTracing } from '@sandyard/kit/tracing/open-tracing'
import { readTracing, TRACING_SETTINGS } from '@sandyard/kit/tracing/tracing-config'
import { startCollector, type CollectedSpan, type Collector } from '@sandyard/test-kit/otlp-collector'
import { MemoryRoutes } from './support/memory-routes.ts'
import { answerJson, startStandInApi, type StandInApi } from './support/stand-in-api.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const SERVER = 2

let api: StandInApi
let service: RunningService
let proxy: RunningProxy
let collector: Collector
let endTracing: () => Promise<void>
/** The header `traceparent` of the last request, as the service got it. */
let received: unknown

beforeAll(async () => {
  api = await startStandInApi()
  service = await startService((req, res) => {
    received = req.headers['traceparent']
    res.writeHead(req.url === '/fails' ? 500 : 200).end('served')
  })
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})
beforeEach(async () => {
  collector = await startCollector()
  const routes = new MemoryRoutes()
  proxy = await startProxy(routes, { apiInternalUrl: api.url })
  const endpoint = { host: '127.0.0.1', daemonPort: service.port }
  routes.put({ sandboxId: 'i1', incarnation: 1, state: 'running', startedAt: 1, endpoint })
  routes.put({ sandboxId: 'i2', incarnation: 1, state: 'paused', endpoint, wakes: true })
})
afterEach(async () => {
  await endTracing()
  await proxy[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

async function trace(environment: Record<string, string> = {}): Promise<void> {
  const config = readTracing(parseConfig(TRACING_SETTINGS, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment }))
  endTracing = await openTracing(config, { service: 'sandyard-proxy', version: '1', log: silentLogger() })
}
async function send(sandboxId: string, path: string, traceparent?: string): Promise<number> {
  const headers = { 'e2b-sandbox-id': sandboxId, 'e2b-sandbox-port': '49983', ...(traceparent !== undefined && { traceparent }) }
  const answer = await fetch(`${proxy.url}${path}`, { headers })
  await answer.text()
  return answer.status
}
async function firstSpan(): Promise<CollectedSpan> {
  await until('the span', () => collector.spans.some(({ kind }) => kind === SERVER))
  return collector.spans.find(({ kind }) => kind === SERVER) as CollectedSpan
}

describe('a proxy with a collector', () => {
  it('sends a span for a forwarded request, and forwards the headers of the trace as they are', async () => {
    await trace()
    const traceparent = `00-${TRACE}-${PARENT}-01`
    expect(await send('i1', '/a?token=secret', traceparent)).toBe(200)
    const span = await firstSpan()
    expect(span).toMatchObject({ service: 'sandyard-proxy', name: 'proxy GET', traceId: TRACE, parentSpanId: PARENT, status: 0 })
    expect(span.attributes).toMatchObject({
      'sandyard.sandbox_id': 'i1',
      'sandyard.outcome': 'forwarded',
      'http.response.status_code': 200,
    })
    expect(JSON.stringify(collector.spans)).not.toContain('secret')
    expect(received).toBe(traceparent)
  })

  it.each([
    ['i9', '/a', 'not_found', 502],
    ['i1', '/fails', 'forwarded', 500],
  ])('marks a request to %s%s as failed', async (sandboxId, path, outcome, status) => {
    await trace()
    expect(await send(sandboxId, path)).toBe(status)
    const span = await firstSpan()
    expect(span.status).toBe(2)
    expect(span.attributes).toMatchObject({ 'sandyard.outcome': outcome, 'http.response.status_code': status })
  })

  it('continues the trace in the control plane that resumes the sandbox', async () => {
    await trace()
    const asked: unknown[] = []
    api.handle = (req, res) => {
      asked.push(req.headers['traceparent'])
      answerJson(res, 404)
    }
    await send('i2', '/a')
    await endTracing()
    const wake = collector.spans.find(({ name }) => name === 'wake')
    expect(wake?.parentSpanId).toBe(collector.spans.find(({ kind }) => kind === SERVER)?.spanId)
    expect(asked).toEqual([`00-${wake?.traceId}-${wake?.spanId}-01`])
  })

  it('sends nothing of a request that is not sampled', async () => {
    await trace({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
    await send('i1', '/a')
    await send('i1', '/a', `00-${TRACE}-${PARENT}-01`)
    await endTracing()
    expect(collector.spans.map(({ traceId }) => traceId)).toEqual([TRACE])
  })
})

it('ends in time, and serves requests, while the collector hangs', async () => {
  await collector[Symbol.asyncDispose]()
  collector = await startCollector({ hangs: true })
  await trace()
  await send('i1', '/a')
  await until('the call that hangs', () => collector.requests() > 0)
  expect(await send('i1', '/a')).toBe(200)
  await endTracing()
})
