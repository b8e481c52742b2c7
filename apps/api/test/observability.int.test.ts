import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { listenForMetrics, type MetricsListener } from '@sandyard/kit/http/metrics-server'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { BuildFailure } from '../src/builds/build-failure.ts'
import { queueBuild, waitForEnd } from './support/builds.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'
import { checkDashboard, expressionsOf, findFaults, type Dashboard } from './support/dashboard-schema.ts'
import { OBSERVABILITY, Prometheus, promtool, type Rule, type Series } from './support/prometheus.ts'
import { startProgram, type Program } from './support/start-program.ts'

const ROOT = join(import.meta.dirname, '../../..')
const GIB = 1024 ** 3
const REPORT = {
  ts: 1,
  cpu_count: 2,
  cpu_used_pct: 12,
  mem_total: GIB,
  mem_used: 200,
  mem_cache: 300,
  disk_used: GIB,
  disk_total: 50 * GIB,
}
/** For `a.example`, type A. */
const LOOKUP = Buffer.from('0001010000010000000000000161076578616d706c650000010001', 'hex')

let world: World
let api: Server
let metrics: MetricsListener
let proxy: Program
let egress: Program
let prometheus: Prometheus
let rules: readonly Rule[]
const dashboards = new Map<string, Dashboard>()
/** Of the proxy and the gateway. */
const ports = { proxy: 0, gateway: 0, lookups: 0 }

beforeAll(async () => {
  world = await createWorld()
  let builds = 0
  api = await world.startServer({
    loops: true,
    env: { SANDYARD_METRICS_MAX_SANDBOXES: '5' },
    capabilities: { egressGateway: '127.0.0.1' },
    // Every second build fails.
    buildRunner: async ({ buildId }) => {
      builds += 1
      if (builds % 2 === 0) throw new BuildFailure('exit status 7', '2')
      return { image: `built:${buildId}`, defaultUser: 'user', defaultWorkdir: '/home/user', env: {} }
    },
  })
  world.daemon.report = (url) => (url.startsWith('/metrics') ? REPORT : undefined)
  metrics = await listenForMetrics(api.ctx.metrics.registry, { host: '127.0.0.1', port: 0 })
  const shared = { DATABASE_URL: world.database.url }
  proxy = startProgram(join(ROOT, 'apps/proxy/src/main.ts'), { ...shared, SANDYARD_PROXY_PORT: '0', SANDYARD_PROXY_METRICS_PORT: '0' })
  ports.gateway = await findFreePort()
  ports.lookups = await findFreePort()
  egress = startProgram(join(ROOT, 'apps/egress/src/main.ts'), {
    ...shared,
    SANDYARD_EGRESS_HEALTH_PORT: '0',
    SANDYARD_EGRESS_TCP_PORT: String(ports.gateway),
    SANDYARD_EGRESS_DNS_PORT: String(ports.lookups),
  })
  const { port: ofProxy } = await proxy.said('the metrics are served')
  const { port: ofEgress } = await egress.said('listening')
  await egress.said('the egress gateway listens')
  ports.proxy = (await proxy.said('listening')).port ?? 0
  prometheus = await Prometheus.start({
    'api:3001': `127.0.0.1:${metrics.address.port}`,
    'proxy:3004': `127.0.0.1:${ofProxy}`,
    'egress:3003': `127.0.0.1:${ofEgress}`,
  })
  rules = await prometheus.rules()
  for (const name of await readdir(join(OBSERVABILITY, 'dashboards'))) {
    dashboards.set(name, checkDashboard(JSON.parse(await readFile(join(OBSERVABILITY, 'dashboards', name), 'utf8'))))
  }
})
afterAll(async () => {
  await prometheus?.[Symbol.asyncDispose]()
  await egress?.[Symbol.asyncDispose]()
  await proxy?.[Symbol.asyncDispose]()
  await metrics?.[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

/** What an installation does: sandboxes, failures, builds, traffic both ways. One sandbox runs on. */
async function act(): Promise<void> {
  const create = (templateID = 'base') => api.call('POST', '/sandboxes', { body: { templateID } })
  const running: string = (await create()).body.sandboxID
  const ended: string = (await create()).body.sandboxID
  api.runtime.faults.failBefore('create', new Error('the engine is broken'))
  expect((await create()).status).toBe(500)
  expect((await create('unknown')).status).toBe(404)
  expect((await api.call('POST', `/sandboxes/${ended}/snapshots`, { body: { memory: true } })).status).toBe(501)
  expect((await api.call('POST', `/sandboxes/${ended}/pause`)).status).toBe(204)
  expect((await api.call('POST', `/sandboxes/${ended}/resume`, { body: {} })).status).toBe(201)
  expect((await api.call('POST', `/sandboxes/${ended}/snapshots`, { body: {} })).status).toBe(201)
  expect((await api.call('DELETE', `/sandboxes/${ended}`)).status).toBe(204)
  const template = await api.call('POST', '/v3/templates', { body: { name: `app-${running}` } })
  expect(template.status).toBe(202)
  for (const buildId of [await queueBuild(world), await queueBuild(world)]) await waitForEnd(world, buildId)
  const request = (port: number, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${ports.proxy}${path}`, {
      ...init,
      headers: { 'E2b-Sandbox-Id': running, 'E2b-Sandbox-Port': String(port) },
    })
  expect((await request(49_983, '/process.Process/Start', { method: 'POST', body: '{}' })).status).toBe(204)
  expect((await request(49_983, '/health')).status).toBe(204)
  expect((await request(metrics.address.port, '/metrics')).status).toBe(200)
  await refuseConnection()
  await refuseLookup()
  // The in-memory runtime has no packets: its guard's report is given here.
  api.ctx.metrics.refusedPackets.inc({ rule: 'deny' })
}

/** A connection that the host has not redirected. */
async function refuseConnection(): Promise<void> {
  const socket = connect(ports.gateway, '127.0.0.1').on('error', () => undefined)
  await once(socket, 'close')
}

/** A lookup from an address that no sandbox has. */
async function refuseLookup(): Promise<void> {
  const socket = createSocket('udp4')
  await new Promise((resolve) => socket.send(LOOKUP, ports.lookups, '127.0.0.1', resolve))
  socket.close()
}

/** An expression of a dashboard as Grafana sends it. */
function fillIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll('$sandbox', '.*')
}

/** The value that an alert compares, instead of only the series that fire. */
function compare(expr: string): string {
  return expr.replaceAll(/ ([<>]=?|[!=]=) /g, ' $1 bool ')
}

const hasValue = (series: readonly Series[]): boolean => series.some(({ value: [, value] }) => value !== 'NaN')

describe('Prometheus', () => {
  it('accepts the configuration, the rules and the alerts, and their unit tests pass', async () => {
    expect(await promtool('check', 'config', 'prometheus.yml')).not.toContain('FAILED')
    expect(await promtool('test', 'rules', 'tests/alerts.test.yml')).toContain('SUCCESS')
  })

  it('has a value for every expression of the alerts, the rules and the dashboards', async () => {
    await pollUntil({ what: 'the first look at each target', timeoutMs: 20_000, everyMs: 100 }, async () => {
      const up = await prometheus.query('up == 1')
      return up.length === 4 ? true : undefined
    })
    // Twice, with a look between: a rate needs two values of each series.
    await act()
    await pollUntil({ what: 'the values of the first round', timeoutMs: 20_000, everyMs: 100 }, async () => {
      const seen = [
        'sandyard_api_request_seconds_count{status="202"}',
        'sandyard_proxy_answer_seconds_count{kind="port"}',
        'sandyard_egress_connections_total',
        'sandyard_egress_lookups_total',
      ]
      const found = await Promise.all(seen.map((series) => prometheus.query(series)))
      return found.every((series) => series.length > 0) ? true : undefined
    })
    await act()

    const pending = new Map<string, string>()
    for (const { query, type, name } of rules) pending.set(type === 'alerting' ? compare(query) : query, name)
    for (const [name, { panels }] of dashboards) for (const expr of expressionsOf(panels)) pending.set(fillIn(expr), name)
    const total = pending.size
    await pollUntil({ what: 'a value of each expression', timeoutMs: 30_000, everyMs: 500 }, async () => {
      for (const expr of pending.keys()) if (hasValue(await prometheus.query(expr))) pending.delete(expr)
      return pending.size === 0 ? true : undefined
    }).catch((cause: unknown) => {
      throw new Error(`no value:\n${[...pending].map(([expr, from]) => `${from}: ${expr}`).join('\n')}`, { cause })
    })
    expect(total).toBeGreaterThan(80)
  })

  it('evaluates every rule without an error, and no alert fires for a healthy server', async () => {
    const evaluated = await prometheus.rules()
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([])
    const firing = await prometheus.query('ALERTS{alertstate="firing"}')
    expect(firing.map(({ metric }) => metric['alertname'])).toEqual([])
  })
})

describe('each alert', () => {
  it('has a severity, a summary, a description, and a section of the page that its link names', async () => {
    const page = await readFile(join(ROOT, 'docs/troubleshooting.md'), 'utf8')
    const anchors = new Set([...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => `docs/troubleshooting.md#${title.toLowerCase()}`))
    const alerts = rules.filter(({ type }) => type === 'alerting')
    expect(alerts.length).toBeGreaterThan(20)
    for (const { name, labels, annotations } of alerts) {
      expect(['info', 'warning', 'critical'], name).toContain(labels?.['severity'])
      expect(annotations?.['summary'], name).toMatch(/\S/)
      expect(annotations?.['description'], name).toMatch(/\S/)
      expect(annotations?.['runbook_url'], name).toBe(`docs/troubleshooting.md#${name.toLowerCase()}`)
      expect(anchors, name).toContain(annotations?.['runbook_url'])
    }
  })

  it('fires in a unit test, and stays silent in one', async () => {
    const text = await readFile(join(OBSERVABILITY, 'tests/alerts.test.yml'), 'utf8')
    const cases = [...text.matchAll(/- alertname: (\w+)\n\s+eval_time: \w+\n\s+exp_alerts:( \[\])?$/gm)]
    const names = rules.filter(({ type }) => type === 'alerting').map(({ name }) => name)
    for (const name of names) {
      const outcomes = cases.filter(([, alert]) => alert === name).map(([, , empty]) => (empty === undefined ? 'fires' : 'silent'))
      expect(new Set(outcomes), name).toEqual(new Set(['fires', 'silent']))
    }
  })
})

describe('the dashboards', () => {
  it('have unique ids, panels that do not overlap, and only variables that they declare', () => {
    expect([...dashboards.keys()].sort()).toEqual(['sandyard-builds.json', 'sandyard-overview.json', 'sandyard-sandboxes.json'])
    for (const [name, dashboard] of dashboards) {
      expect(`${dashboard.uid}.json`).toBe(name)
      expect(findFaults(dashboard), name).toEqual([])
    }
  })
})
