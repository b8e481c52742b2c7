import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let ours: Party
let browser: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  ours = await seedParty(world, 'Ours')
  browser = await new Browser(api).logIn({ key: ours.apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

it('shows what the team has done, and nothing of other teams', async () => {
  const theirs = await api.call('POST', '/sandboxes', { body: { templateID: 'base' } })
  expect(theirs.status, theirs.text).toBe(201)
  const before = await browser.call('GET', '/api/overview')
  expect(before.body, before.text).toMatchObject({ counts: { running: 0 }, createMs: null, failedBuilds: [], startsInRange: 0 })
  expect(before.text).not.toContain(theirs.body.sandboxID)

  const own = await api.call('POST', '/sandboxes', { apiKey: ours.apiKey, body: { templateID: 'base' } })
  expect(own.status, own.text).toBe(201)
  await world.database.db
    .insertInto('team_metric')
    .values({ team_id: ours.teamId, sampled_at: new Date(Date.now() - 5000), concurrent: 1, started: 1 })
    .onConflict((oc) => oc.doNothing())
    .execute()
  const { body, text } = await browser.call('GET', '/api/overview?range=1h')
  expect(body, text).toMatchObject({ counts: { running: 1 }, createMs: { p50: expect.any(Number) } })
  expect(body.startsInRange).toBeGreaterThan(0)
  // The sample may be in the bucket before the current one.
  expect(body.series.slice(-2)).toContainEqual(expect.objectContaining({ running: 1 }))
  expect(body.events.map(({ subject }: { subject: string }) => subject)).toContain(own.body.sandboxID)
})

it('refuses an unknown range', async () => {
  expect((await browser.call('GET', '/api/overview?range=2h')).status).toBe(400)
})
