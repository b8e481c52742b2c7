import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { RecordedSpans } from '@sandyard/test-kit/recorded-spans'
import type Docker from 'dockerode'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectEngine } from '../src/engine/connect-engine.ts'

const lines: Record<string, unknown>[] = []
const log = createLogger({ name: 'test', level: 'debug', destination: { write: (line) => void lines.push(JSON.parse(line)) } })
const spans = new RecordedSpans()
let server: Server
let docker: Docker

/** Answers as an engine does: it knows every container but `absent`. */
beforeAll(async () => {
  server = createServer((req, res) => {
    if (req.url === '/version') return void res.end('{"ApiVersion":"1.48","MinAPIVersion":"1.24"}')
    res.writeHead(req.url?.includes('absent') === true ? 404 : 200, { 'content-type': 'application/json' }).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  docker = await connectEngine(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, {}, log)
})
afterAll(async () => {
  spans[Symbol.dispose]()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(() => {
  lines.splice(0)
  spans.clear()
})

describe('a call to the engine', () => {
  it('is a line of the log and a span of its request, without its query', async () => {
    await spans.inRequest('mine', () => docker.getContainer('c1').inspect({ size: true } as object))
    const call = { requestId: 'mine', traceId: 'trace', msg: 'engine call', call: 'GET /containers/c1/json', ms: expect.any(Number) }
    expect(lines).toEqual([expect.objectContaining(call)])
    expect(spans.all[1]).toMatchObject({
      start: { name: 'engine GET containers', kind: 'client' },
      attributes: { 'url.path': '/containers/c1/json' },
      hasEnded: true,
      err: undefined,
    })
  })

  it('that fails is a failed span, and says why in the log', async () => {
    await expect(spans.inRequest('mine', () => docker.getContainer('absent').start())).rejects.toMatchObject({ statusCode: 404 })
    expect(lines[0]).toMatchObject({ requestId: 'mine', call: 'POST /containers/absent/start', err: { statusCode: 404 } })
    expect(spans.all[1]?.err).toMatchObject({ statusCode: 404 })
  })

  it('of a loop has no span', async () => {
    await docker.ping()
    expect(lines).toEqual([expect.objectContaining({ call: 'GET /_ping' })])
    expect(lines[0]).not.toHaveProperty('requestId')
    expect(spans.all).toEqual([])
  })
})
