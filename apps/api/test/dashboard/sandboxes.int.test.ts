import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, waitFor, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let theirs: Party
let browser: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true, capabilities: { egressPolicies: true, egressGateway: '10.0.0.1' } })
  theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

const create = async (body: object = {}, options: object = {}): Promise<string> => {
  const answer = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body }, ...options })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.sandboxID
}
const list = async (query: string, by = browser) => {
  const answer = await by.call('GET', `/api/sandboxes${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}
const ids = (body: { data: readonly { sandboxId: string }[] }) => body.data.map(({ sandboxId }) => sandboxId)
const ended = (id: string) =>
  waitFor('the sandbox is in the history', async () => (await browser.call('GET', `/api/sandboxes/${id}`)).body.state === 'ended')

describe('the list of sandboxes', () => {
  it('has those of the team with their states, the key that made them, and counts', async () => {
    const [running, paused, killed] = [await create({ metadata: { run: '1' } }), await create(), await create()]
    await create({}, { apiKey: theirs.apiKey })
    await api.call('POST', `/sandboxes/${paused}/pause`)
    await api.call('DELETE', `/sandboxes/${killed}`)
    await ended(killed)
    const body = await list('')
    expect(body).toMatchObject({ matching: 2, nextCursor: null, counts: { running: 1, paused: 1, starting: 0, limit: expect.any(Number) } })
    expect(ids(body)).toEqual([paused, running])
    expect(body.data[1]).toMatchObject({
      state: 'running',
      templateName: expect.stringMatching(/base$/),
      cpuCount: 2,
      memoryMib: 1024,
      endsAt: expect.stringMatching(/Z$/),
      pausesAtEnd: false,
      metadata: { run: '1' },
      createdBy: { kind: 'key', label: expect.any(String) },
      end: null,
    })
    expect(body.data[0]).toMatchObject({ state: 'paused', endsAt: null })
    const all = await list('?state=running,paused,ended')
    expect(ids(all)).toEqual([killed, paused, running])
    expect(all.data[0].end).toMatchObject({
      reason: 'killed',
      text: expect.stringMatching(/^It was killed with the key "/),
      actor: { kind: 'key' },
    })
    expect(ids(await list('?search=run%3D1'))).toEqual([running])
    expect(ids(await list('?metadata=run%3D1'))).toEqual([running])
    expect(ids(await list(`?search=${paused.slice(3, 12).toUpperCase()}`))).toEqual([paused])
    expect(ids(await list(`?search=%25`))).toEqual([])
    expect(ids(await list('?template=base&minCpu=2'))).toEqual([paused, running])
    expect(ids(await list('?minCpu=3'))).toEqual([])
    expect(ids(await list(`?keyId=${body.data[0].createdBy.id}`))).toEqual([paused, running])
    expect(ids(await list('?startedAfter=2999-01-01T00:00:00Z'))).toEqual([])
  })

  it('has pages in each order, which miss and repeat nothing', async () => {
    const made = [await create(), await create(), await create()]
    for (const sort of ['started', 'expires', 'template', 'state', 'ended']) {
      for (const order of ['asc', 'desc']) {
        const whole = ids(await list(`?sort=${sort}&order=${order}&state=running,paused,ended`))
        expect(whole).toEqual(expect.arrayContaining(made))
        const seen: string[] = []
        let cursor = ''
        for (let page = 0; page < 20; page++) {
          const body = await list(`?sort=${sort}&order=${order}&state=running,paused,ended&limit=2${cursor}`)
          seen.push(...ids(body))
          if (body.nextCursor === null) break
          cursor = `&cursor=${body.nextCursor}`
        }
        expect(seen, `${sort} ${order}`).toEqual(whole)
      }
    }
  })

  it.each([
    '?state=gone',
    '?cursor=x',
    '?cursor=WzEsMl0',
    '?limit=0',
    '?limit=201',
    '?unknown=1',
    '?keyId=x',
    '?startedAfter=soon',
    '?metadata=x',
    '?sort=size',
  ])('refuses %s', async (query) => {
    expect((await browser.call('GET', `/api/sandboxes${query}`)).status).toBe(400)
  })

  it('survives hostile searches', async () => {
    for (const search of ["'; drop table sandbox; --", '%', '_', '\\', '=', 'a=b=c', '"', '%00', 'ü🙂']) {
      expect((await browser.call('GET', `/api/sandboxes?search=${encodeURIComponent(search)}`)).status, search).toBe(200)
    }
    expect((await browser.call('GET', '/api/sandboxes?template=%00&search=%00')).status).toBe(200)
  })
})

describe('a sandbox', () => {
  it('has its policy without secrets, and says who ended it in the dashboard', async () => {
    const id = await create({
      network: {
        allowOut: ['api.example.com'],
        denyOut: ['0.0.0.0/0'],
        rules: { 'api.example.com': [{ transform: { headers: { 'x-key': 'secret' } } }] },
      },
    })
    const answer = await browser.call('GET', `/api/sandboxes/${id}`)
    expect(answer.body).toMatchObject({
      state: 'running',
      isReachable: true,
      parent: null,
      network: { allowInternetAccess: true, allowOut: ['api.example.com'], rules: [{ host: 'api.example.com', headerNames: ['x-key'] }] },
      keptUntil: null,
    })
    expect(answer.text).not.toContain('secret')
    await browser.call('DELETE', `/api/wire/sandboxes/${id}`)
    await ended(id)
    const after = (await browser.call('GET', `/api/sandboxes/${id}`)).body
    expect(after).toMatchObject({
      isReachable: false,
      end: { actor: { kind: 'key', viaDashboard: true }, text: expect.stringMatching(/in the dashboard/) },
    })
    expect(Date.parse(after.keptUntil)).toBeGreaterThan(Date.now())
  })

  it('of another team is not found, and an operator sees it after a change of the team', async () => {
    const id = await create({}, { apiKey: theirs.apiKey })
    expect((await browser.call('GET', `/api/sandboxes/${id}`)).status).toBe(404)
    expect((await browser.call('GET', '/api/sandboxes/ABC')).status).toBe(400)
    const operator = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
    expect((await operator.call('GET', `/api/sandboxes/${id}`)).status).toBe(404)
    await operator.call('POST', '/api/me/team', { body: { teamId: theirs.teamId } })
    expect((await operator.call('GET', `/api/sandboxes/${id}`)).status).toBe(200)
  })
})
