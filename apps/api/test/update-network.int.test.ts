import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let id: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  const network = { allowPublicTraffic: false, maskRequestHost: 'localhost', allowOut: ['9.9.9.9'] }
  id = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', allow_internet_access: true, network } })).body.sandboxID
})

const put = (body: object, sandboxId = id, apiKey?: string): Promise<Answer> =>
  api.call('PUT', `/sandboxes/${sandboxId}/network`, { body, ...(apiKey !== undefined && { apiKey }) })
const show = async (): Promise<Answer['body']> => (await api.call('GET', `/sandboxes/${id}`)).body
const changes = () =>
  world.database.db
    .selectFrom('event')
    .select('data')
    .where('subject', '=', id)
    .where('kind', '=', 'sandbox.network_changed')
    .orderBy('event_id')
    .execute()

const KEPT = { allowPublicTraffic: false, maskRequestHost: 'localhost' }

describe('[PUT /sandboxes/{sandboxID}/network]', () => {
  it.each<[object, readonly string[], (readonly string[])?]>([
    [{}, []],
    [{ allow_internet_access: true }, []],
    [{ allowOut: [], denyOut: [], rules: {}, egressProxy: null, dnsServers: [] }, []],
    [{ allowOut: ['1.1.1.1'] }, ['1.1.1.1']],
    [{ allowPublicTraffic: true, maskRequestHost: 'other' }, []],
    [{ denyOut: ['1.2.3.0/24'], allowOut: ['1.2.3.4'] }, ['1.2.3.4'], ['1.2.3.0/24']],
  ])('%j replaces the egress part and keeps the rest', async (body, allowOut, denyOut = []) => {
    expect(await put(body)).toMatchObject({ status: 204, text: '' })
    expect(await show()).toMatchObject({ network: { ...KEPT, allowOut, denyOut }, allowInternetAccess: true })
    const [change] = await changes()
    expect(change?.data).toMatchObject({ actor: { kind: 'key' }, incarnation: 1, allowOut, denyOut })
  })

  it('tells the history the first hundred entries of long lists', async () => {
    const allowOut = Array.from({ length: 150 }, (_, at) => `1.1.1.${at}`)
    await put({ allowOut, denyOut: ['2.2.2.2'] })
    const [change] = await changes()
    expect(change?.data).toMatchObject({ allowOut: allowOut.slice(0, 100), denyOut: ['2.2.2.2'], omitted: 50 })
    expect((await show()).network.allowOut).toEqual(allowOut)
  })

  it('keeps the stored flag of internet access when the request has none', async () => {
    const other = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
    await put({}, other)
    expect((await api.call('GET', `/sandboxes/${other}`)).body.allowInternetAccess).toBeNull()
    for (const allow_internet_access of [true, false]) {
      await put({ allow_internet_access }, other)
      await put({}, other)
      expect((await api.call('GET', `/sandboxes/${other}`)).body.allowInternetAccess).toBe(allow_internet_access)
    }
  })

  it.each<[object, number, string | RegExp]>([
    [{ denyOut: ['example.com'] }, 400, 'invalid denied CIDR example.com'],
    [{ allowOut: ['0.0.0.0'] }, 400, 'invalid allowed address 0.0.0.0'],
    [
      { allowOut: ['a.com'] },
      400,
      "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic.",
    ],
    [{ egressProxy: { address: 'x' } }, 400, /^Invalid egress proxy config: /],
    [{ rules: { '*': [] } }, 400, 'Rule domain "*" is not a valid domain name.'],
    [{ allowOut: Array.from({ length: 1001 }, () => '1.1.1.1') }, 400, /^validation error: .*allowOut/],
    [{ allow_internet_access: 'no' }, 400, /^validation error: /],
    [{ allowOut: ['a\0.com'], denyOut: ['0.0.0.0/0'] }, 400, 'invalid allowed address a\0.com'],
    [{ allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] }, 501, /'allowOut'/],
    [{ dnsServers: ['1.1.1.1'] }, 501, /'dnsServers'/],
    [{ egressProxy: { address: 'proxy.example.com:1080' } }, 501, /'egressProxy'/],
    [{ rules: { 'a.com': [] } }, 501, /'rules'/],
  ])('%j is refused and changes nothing', async (body, code, message) => {
    const before = await show()
    expect((await put(body)).body).toEqual({ code, message: typeof message === 'string' ? message : expect.stringMatching(message) })
    expect(await show()).toEqual(before)
    expect(await changes()).toEqual([])
  })

  it.each([
    ['killing', 409, 'is being killed'],
    ['starting', 404, "doesn't exist or you don't have access to it"],
  ] as const)('a %s sandbox is %i', async (state, code, text) => {
    await world.database.db.updateTable('sandbox').set({ state }).where('sandbox_id', '=', id).execute()
    expect((await put({})).body).toEqual({ code, message: `Sandbox "${id}" ${text}` })
    expect((await put({ rules: { '*': [] } })).status).toBe(code)
    expect((await put({ denyOut: ['a'] })).status).toBe(400)
    expect(await changes()).toEqual([])
  })

  it('hides the sandboxes of other teams, and refuses malformed ids', async () => {
    const { credentials } = await seedIdentity(world.database, { teamName: 'Strangers', email: 'stranger@acme.test' })
    const message = `Sandbox "${id}" doesn't exist or you don't have access to it`
    expect((await put({}, id, credentials?.apiKey)).body).toEqual({ code: 404, message })
    expect((await put({}, 'inothing')).status).toBe(404)
    expect((await put({}, 'a-b-c')).body).toEqual({ code: 400, message: 'Invalid sandbox ID' })
    expect((await api.call('PUT', `/sandboxes/${id}/network`)).status).toBe(400)
  })
})

it.each([
  ['allow_internet_access', { allow_internet_access: false }],
  ['denyOut', { denyOut: ['0.0.0.0/0'] }],
])('[PUT /sandboxes/{sandboxID}/network] answers 501 for %s where the runtime has no egress policies', async (field, body) => {
  const other = await world.startServer({ capabilities: { egressPolicies: false } })
  const before = await show()
  const answer = await other.call('PUT', `/sandboxes/${id}/network`, { body })
  expect(answer.body).toEqual({ code: 501, message: expect.stringContaining(`'${field}'`) })
  expect(await show()).toEqual(before)
  expect((await other.call('PUT', `/sandboxes/${id}/network`, { body: { allowOut: [] } })).status).toBe(204)
  expect(other.runtime.faults.calls).not.toContain('setEgress')
  const network = field === 'denyOut' ? { network: body } : body
  const created = await other.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...network } })
  expect(created.body).toEqual({ code: 501, message: expect.stringContaining(`${field}'`) })
})
