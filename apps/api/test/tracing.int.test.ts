import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { startCollector, type CollectedSpan, type Collector } from '@sandyard/test-kit/otlp-collector'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { readLog } from './support/read-log.ts'

let world: World
let collector: Collector
let api: Server
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  await api[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

const SERVER = 2
const FAILED = 2
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

async function start(
  env: Record<string, string> = {},
  options: { readonly hangs?: boolean; readonly loops?: boolean } = {},
): Promise<void> {
  collector = await startCollector(options)
  api = await world.startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }, loops: options.loops ?? false })
}
const create = (headers: Record<string, string> = {}) => api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, headers })

/** The spans of the trace with this request as its first, once it has arrived. */
async function traceOf(route: string): Promise<{ readonly root: CollectedSpan; readonly below: CollectedSpan[] }> {
  await waitFor(`the trace of ${route}`, () => collector.spans.some(({ name }) => name === route))
  const root = collector.spans.find(({ name }) => name === route)
  if (root === undefined) throw new Error('it was there a moment ago')
  return { root, below: collector.spans.filter(({ traceId, spanId }) => traceId === root.traceId && spanId !== root.spanId) }
}

describe('a server with a collector', () => {
  it('sends the phases of a create below its request', async () => {
    await start({ OTEL_RESOURCE_ATTRIBUTES: 'a=b', OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme' })
    const { body } = await create({ 'x-request-id': 'mine' })
    const { root, below } = await traceOf('POST /v2/sandboxes')
    expect(root).toMatchObject({ service: 'sandyard-api', kind: SERVER, parentSpanId: undefined, status: 0 })
    expect(root.attributes).toMatchObject({
      'http.response.status_code': 201,
      'sandyard.operation': 'createSandboxV2',
      'sandyard.request_id': 'mine',
      'sandyard.team_id': world.teamId,
    })
    expect(below.map(({ name }) => name)).toEqual(['checks', 'reserve', 'engine create', 'daemon init', 'commit'])
    expect(new Set(below.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root.spanId]))
    expect(below[2]?.attributes).toEqual({ 'sandyard.sandbox_id': body.sandboxID })
    expect(collector.headers()['x-tenant']).toBe('acme')
  })

  it('sends a pause, a resume and the work behind a kill', async () => {
    await start()
    const { sandboxID } = (await create()).body
    await api.call('POST', `/sandboxes/${sandboxID}/pause`)
    await api.call('POST', `/sandboxes/${sandboxID}/connect`, { body: { timeout: 60 } })
    await api.call('DELETE', `/sandboxes/${sandboxID}`)
    for (const [route, phase] of [
      ['POST /sandboxes/:sandboxID/pause', 'engine pause'],
      ['POST /sandboxes/:sandboxID/connect', 'engine resume'],
      ['DELETE /sandboxes/:sandboxID', 'engine remove'],
    ] as const) {
      await waitFor(phase, () => collector.spans.some(({ name }) => name === phase))
      expect((await traceOf(route)).below.map(({ name }) => name)).toContain(phase)
    }
  })

  it('marks the phase that failed, and the request', async () => {
    await start()
    api.runtime.faults.failBefore('create', new AppError('internal', 'no room'))
    await create()
    const { root, below } = await traceOf('POST /v2/sandboxes')
    expect([root.status, root.attributes['http.response.status_code']]).toEqual([FAILED, 500])
    expect(below.filter(({ status }) => status === FAILED).map(({ name }) => name)).toEqual(['engine create'])
  })

  it('sends a build as a trace of its own', async () => {
    await start({}, { loops: true })
    const { templateID, buildID } = (await api.call('POST', '/v3/templates', { body: { name: 'traced' } })).body
    await api.call('POST', `/v2/templates/${templateID}/builds/${buildID}`, { body: { fromImage: 'debian:12' } })
    const { root } = await traceOf('build')
    expect(root.attributes).toMatchObject({ 'sandyard.build_id': buildID, 'sandyard.template_id': templateID, 'sandyard.outcome': 'ready' })
  })

  it('continues the trace of the client, and says its id in the log', async () => {
    const { log, lines } = readLog()
    collector = await startCollector()
    api = await world.startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, log })
    await create({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1' })
    expect((await traceOf('POST /v2/sandboxes')).root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT })
    expect(lines.find(({ msg }) => msg === 'sandbox started')).toMatchObject({ traceId: TRACE })
    expect(world.daemon.traceparents.at(-1)).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
  })

  it.each<[string, Record<string, string>, string | undefined, boolean]>([
    ['a client that is not traced is not, by default', {}, `00-${TRACE}-${PARENT}-00`, false],
    ['the share 0 traces nothing', { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, undefined, false],
    ['a client may ask for its trace', { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, `00-${TRACE}-${PARENT}-01`, true],
    ['a client may not ask for it without parentbased', { OTEL_TRACES_SAMPLER: 'always_off' }, `00-${TRACE}-${PARENT}-01`, false],
    [
      'always_on samples a request whose traceparent is not sampled',
      { OTEL_TRACES_SAMPLER: 'always_on' },
      `00-${TRACE}-${PARENT}-00`,
      true,
    ],
    ['a malformed traceparent counts as none', {}, 'nonsense', true],
  ])('samples: %s', async (_, env, traceparent, isTraced) => {
    await start(env)
    await create(traceparent === undefined ? {} : { traceparent })
    // The end of the server sends what is left.
    await api[Symbol.asyncDispose]()
    expect(collector.spans.some(({ name }) => name === 'POST /v2/sandboxes')).toBe(isTraced)
  })
})

describe('a collector that does not work', () => {
  it('takes nothing from requests when it hangs, and the server ends in time', async () => {
    await start({}, { hangs: true })
    const answers = await Promise.all(Array.from({ length: 20 }, () => create()))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    await waitFor('the call that hangs', () => collector.requests() > 0)
    expect((await api.call('GET', '/v2/sandboxes')).status).toBe(200)
    await api[Symbol.asyncDispose]()
  })

  it('is reported once when it is away', async () => {
    const { log, lines } = readLog()
    collector = await startCollector()
    const { url } = collector
    await collector[Symbol.asyncDispose]()
    api = await world.startServer({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: url }, log })
    expect((await create()).status).toBe(201)
    const isReported = (): boolean => lines.some(({ msg }) => msg === 'the collector does not take traces: they are dropped')
    await waitFor('the report', isReported)
  })
})
