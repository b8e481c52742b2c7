import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '5' } })
})
afterAll(() => world[Symbol.asyncDispose]())

const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  '',
  'x',
  '\0',
  '\ud800',
  "'; drop table sandbox; --",
  'a'.repeat(70_000),
  -1,
  0,
  1.5,
  1e308,
  2_147_483_648,
  Number.MAX_SAFE_INTEGER,
  [],
  [null],
  {},
  { a: { b: { c: [1, '2', null] } } },
  { '': '' },
  { '\0': '\0' },
  { constructor: { prototype: { polluted: true } } },
]

const FIELDS =
  'templateID timeout autoPause autoPauseMemory autoResume secure allow_internet_access network metadata envVars mcp iam volumeMounts duration memory'.split(
    ' ',
  )

const QUERIES = 'metadata state order startedAfter template nextToken limit'.split(' ')

const BODY_ROUTES = [
  '/sandboxes',
  '/v2/sandboxes',
  '/sandboxes/ID/connect',
  '/v2/sandboxes/ID/connect',
  '/sandboxes/ID/timeout',
  '/sandboxes/ID/refreshes',
]

async function expectClear(method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown): Promise<void> {
  const answer = await api.call(method, url, body === undefined ? {} : { body })
  const what = `${method} ${url.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 200)}: ${answer.text.slice(0, 200)}`
  expect(answer.status, what).toSatisfy((status: number) => status < 500 || status === 501)
  if (answer.status < 400) return
  expect(answer.body, what).toEqual({
    code: answer.status,
    message: expect.any(String),
    ...(answer.body.error_code && { error_code: expect.any(String) }),
  })
}

it('uses no text of a client as a metric label, and shortens long texts in errors', async () => {
  const long = 'x'.repeat(300_000)
  const unknown = { [`field-${long}`]: [1], toString: 'x', constructor: 'x' }
  const created = await api.call('POST', '/sandboxes', { body: { templateID: 'base', network: unknown } })
  expect(created.status).toBe(201)
  await api.call('DELETE', `/sandboxes/${created.body.sandboxID}`)
  const refused = await api.call('POST', '/sandboxes', { body: { templateID: 'base', network: { ...unknown, dnsServers: ['1.1.1.1'] } } })
  expect([refused.status, refused.body.message]).toEqual([501, expect.stringContaining("'network.dnsServers'")])
  expect(await api.ctx.metrics.registry.metrics()).not.toContain('field-')

  const bodies = [{ templateID: long }, { templateID: `${long}!` }, { templateID: `base:${long}` }, { templateID: `a!${long}/b` }]
  const fields = [{ metadata: { [long]: 1 } }, { envVars: { [`${long}=`]: '' } }].map((field) => ({ templateID: 'base', ...field }))
  for (const body of [...bodies, ...fields]) {
    const { status, text } = await api.call('POST', '/sandboxes', { body })
    expect(status).toSatisfy((code: number) => code === 400 || code === 404)
    expect(text.length).toBeLessThan(1000)
  }
})

it.each(BODY_ROUTES)('POST %s answers every invalid value of every field', async (route) => {
  const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
  const url = route.replace('ID', body?.sandboxID ?? 'i0')
  for (const value of ODD) {
    await expectClear('POST', url, value)
    for (const field of FIELDS) await expectClear('POST', url, { templateID: 'base', timeout: 60, [field]: value })
  }
  await expectClear('POST', url, {
    templateID: 'base',
    metadata: Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`k${n}`, 'v'])),
  })
})

it('answers every invalid query and path', async () => {
  const odd = [
    '',
    '%00',
    '%ff',
    '%ED%A0%80',
    '%',
    '%25',
    '%2525zz',
    "'",
    '[]',
    '-1',
    '1e3',
    '9'.repeat(400),
    'a'.repeat(4000),
    '%26%3D',
    'running,',
    'a:b:c',
    '/',
  ]
  for (const value of odd) {
    for (const name of QUERIES) {
      await expectClear('GET', `/v2/sandboxes?${name}=${value}`)
      await expectClear('GET', `/sandboxes?${name}=${value}&${name}[]=x`)
    }
    for (const method of ['GET', 'DELETE'] as const) await expectClear(method, `/sandboxes/${value}`)
  }
})
