import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type Docker from 'dockerode'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { runInScope } from '@sandyard/kit/tracing/scope'
import { useTracer, type Span, type SpanStart } from '@sandyard/kit/tracing/span'
import { connectEngine } from '../src/engine/connect-engine.ts'

const lines: Record<string, unknown>[] = []
const log = createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(JSON.parse(line)) } })
const spans: { readonly start: SpanStart; err?: unknown; hasEnded?: boolean }[] = []
let server: Server
let docker: Docker
let stopTracing: () => void

/** Answers as an engine does: it knows every container but `absent`. */
beforeAll(async () => {
  server = createServer((req, res) => {
    if (req.url === '/version') return void res.end('{"ApiVersion":"1.48","MinAPIVersion":"1.24"}')
    res.writeHead(req.url?.includes('absent') === true ? 404 : 200, { 'content-type': 'application/json' }).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  docker = await connectEngine(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, {}, log)
  stopTracing = useTracer({ start: (start) => recorded(start) })
})
afterAll(async () => {
  stopTracing()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  lines.splice(0)
  spans.splice(0)
})

function recorded(start: SpanStart): Span {
  const entry: (typeof spans)[number] = { start }
  spans.push(entry)
  return {
    traceId: 'trace',
    isRecording: true,
    headers: {},
    set: () => undefined,
    end: (err) => void Object.assign(entry, { err, hasEnded: true }),
  }
}
function inRequest<T>(work: () => Promise<T>): Promise<T> {
  const span = recorded({ name: 'request', kind: 'server', attributes: {} })
  return runInScope({ request: new RequestFacts('mine'), span }, work)
}

describe('a call to the engine', () => {
  it('is a line of the log and a span of its request, without its query', async () => {
    await inRequest(() => docker.getContainer('c1').inspect({ size: true } as object))
    expect(lines).toEqual([
      expect.objectContaining({
        requestId: 'mine',
        traceId: 'trace',
        msg: 'engine call',
        call: 'GET /containers/c1/json',
        ms: expect.any(Number),
      }),
    ])
    expect(spans[1]).toMatchObject({
      start: { name: 'engine GET containers', kind: 'client', attributes: { 'url.path': '/containers/c1/json' } },
      hasEnded: true,
    })
    expect(spans[1]?.err).toBeUndefined()
  })

  it('that fails is a failed span, and says why in the log', async () => {
    await expect(inRequest(() => docker.getContainer('absent').start())).rejects.toMatchObject({ statusCode: 404 })
    expect(lines[0]).toMatchObject({ requestId: 'mine', call: 'POST /containers/absent/start', err: { statusCode: 404 } })
    expect(spans[1]?.err).toMatchObject({ statusCode: 404 })
  })

  it('of a loop has no span', async () => {
    await docker.ping()
    expect(lines).toEqual([expect.objectContaining({ call: 'GET /_ping' })])
    expect(lines[0]).not.toHaveProperty('requestId')
    expect(spans).toEqual([])
  })
})
