import { afterAll, beforeAll, expect, it } from 'vitest'
import { ADMIN_TOKEN, createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let ours: Party
let theirs: Party
let developer: Browser
let operator: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true } })
  ours = await seedParty(world, 'Ours')
  theirs = await seedParty(world, 'Theirs')
  developer = await new Browser(api).logIn({ key: ours.apiKey })
  operator = await new Browser(api).logIn({ adminToken: ADMIN_TOKEN })
})
afterAll(() => world[Symbol.asyncDispose]())

const get = async (path: string, by = operator) => {
  const answer = await by.call('GET', `/api${path}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

it('lists all teams for operators, and only the own one for developers', async () => {
  const { data } = await get('/teams')
  const names = data.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['Ours', 'Theirs']))
  const first = await get('/teams?limit=1')
  const second = await get(`/teams?limit=200&cursor=${first.nextCursor}`)
  expect([...first.data, ...second.data]).toEqual(data)
  expect((await get('/teams?search=THEIR')).data).toMatchObject([{ teamId: theirs.teamId, running: 0, isBanned: false }])
  expect((await get('/teams', developer)).data).toMatchObject([{ teamId: ours.teamId }])
  expect((await get('/teams?search=theirs', developer)).data).toEqual([])
})

it('shows the limits of a team with their use, and no other team to developers', async () => {
  await world.database.db.updateTable('team').set({ max_builds: 7 }).where('id', '=', ours.teamId).execute()
  const team = await get(`/teams/${ours.teamId}`, developer)
  expect(team.members).toMatchObject([{ email: ours.email }])
  expect(team.limits).toEqual(
    expect.arrayContaining([
      { name: 'concurrentBuilds', limit: 7, used: 0, unit: 'count', isOwn: true },
      expect.objectContaining({ name: 'concurrentSandboxes', used: 0, isOwn: false }),
    ]),
  )
  expect(await get(`/teams/${ours.teamId.toUpperCase()}`)).toMatchObject({ teamId: ours.teamId })
  expect((await developer.call('GET', `/api/teams/${theirs.teamId}`)).status).toBe(404)
  expect(await get(`/teams/${theirs.teamId}`)).toMatchObject({ name: 'Theirs' })
})

it('shows the host to operators only', async () => {
  expect((await developer.call('GET', '/api/host')).status).toBe(403)
  const created = await api.call('POST', '/sandboxes', { body: { templateID: 'base' } })
  expect(created.status, created.text).toBe(201)
  const host = await get('/host')
  expect(host.running).toBeGreaterThan(0)
  expect(host.createMs.p50).toBeLessThanOrEqual(host.createMs.p95)
  expect(host.slowCreates).toMatchObject([{ sandboxId: created.body.sandboxID }])
  expect(host.versions.node).toBe(process.versions.node)
  expect(Date.parse(host.startedAt)).toBeLessThanOrEqual(Date.now())
})
