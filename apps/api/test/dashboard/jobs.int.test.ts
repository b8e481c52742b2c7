import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type Answer, type Server, type World } from '../support/control-plane.ts'
import { Browser } from '../support/dashboard-browser.ts'
import { block, seedParty, type Party } from '../support/templates.ts'

let world: World
let api: Server
let theirs: Party
let browser: Browser
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ loops: true, env: { SANDYARD_MAX_SANDBOXES: '100' } })
  theirs = await seedParty(world, 'Theirs')
  browser = await new Browser(api).logIn({ key: world.credentials.apiKey })
})
afterAll(() => world[Symbol.asyncDispose]())

const create = async (run: string, options: object = {}): Promise<string> => {
  const answer = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 600, metadata: { run } }, ...options })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.sandboxID
}
const make = (body: object, by = browser) => by.call('POST', '/api/jobs', { body: { requestId: randomUUID(), ...body } })
const ended = async ({ body }: Answer, by = browser): Promise<Answer['body']> => {
  let job = body
  await waitFor('the job has ended', async () => {
    job = (await by.call('GET', `/api/jobs/${body.jobId}`)).body
    return job.status === 'done'
  })
  return job
}
const state = async (id: string) => (await browser.call('GET', `/api/sandboxes/${id}`)).body.state

it('does an action to all that match, with a result for each', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => create('all')))
  const other = await create('other')
  await api.call('POST', `/sandboxes/${ids[0]}/pause`)
  const paused = await ended(await make({ action: 'pause', match: { metadata: 'run=all' } }))
  expect(paused).toMatchObject({ action: 'pause', total: 20, done: 20, failed: 0 })
  const skipped = paused.items.filter(({ status }: { status: string }) => status === 'skipped')
  expect(skipped).toEqual([{ sandboxId: ids[0], status: 'skipped', message: 'It is paused' }])
  expect(await Promise.all(ids.map(state))).toEqual(ids.map(() => 'paused'))
  await ended(await make({ action: 'resume', ids: ids.slice(0, 3) }))
  expect(await state(ids[1] ?? '')).toBe('running')
  const killed = await ended(await make({ action: 'kill', match: { search: 'run=all' } }))
  expect(killed).toMatchObject({ total: 20, done: 20, failed: 0 })
  expect(await state(other)).toBe('running')
  const history = world.database.db
    .selectFrom('sandbox_history')
    .select('end_actor')
    .where('sandbox_id', '=', ids[2] ?? '')
  await waitFor('the history has it', async () => (await history.executeTakeFirst()) !== undefined)
  expect((await history.executeTakeFirst())?.end_actor).toMatchObject({ kind: 'key', via: 'dashboard' })
})

it('adds time once, also when the request is repeated', async () => {
  const id = await create('extended')
  const endsAt = async () => Date.parse((await browser.call('GET', `/api/sandboxes/${id}`)).body.endsAt)
  const before = await endsAt()
  const requestId = randomUUID()
  const answers = await Promise.all([1, 2, 3].map(() => make({ action: 'extend', seconds: 900, ids: [id], requestId })))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  await ended(answers[0] as Answer)
  expect(Math.abs((await endsAt()) - before - 900_000)).toBeLessThan(1500)
})

it('says of each sandbox why it was left out, and touches none of another team', async () => {
  const foreign = await create('x', { apiKey: theirs.apiKey })
  const job = await ended(await make({ action: 'kill', ids: [foreign, 'iunknown'] }))
  expect(job.items.map(({ status }: { status: string }) => status)).toEqual(['skipped', 'skipped'])
  expect((await api.call('GET', `/sandboxes/${foreign}`, { apiKey: theirs.apiKey })).status).toBe(200)
  const their = await new Browser(api).logIn({ key: theirs.apiKey })
  expect((await their.call('GET', `/api/jobs/${job.jobId}`)).status).toBe(404)
  expect((await make({ action: 'kill', ids: [foreign], requestId: job.jobId }, their)).status).toBe(409)
})

it('of a blocked team may only kill', async () => {
  const party = await seedParty(world, 'Blocked')
  const id = await create('b', { apiKey: party.apiKey })
  const their = await new Browser(api).logIn({ key: party.apiKey })
  await block(world, party.teamId, 'unpaid')
  expect((await make({ action: 'pause', ids: [id] }, their)).status).toBe(403)
  expect(await ended(await make({ action: 'kill', ids: [id] }, their), their)).toMatchObject({ done: 1, failed: 0 })
})

it('is taken over from a server that has died', async () => {
  const [first, second] = [await create('dead'), await create('dead')]
  const jobId = randomUUID()
  const { db } = world.database
  await db
    .insertInto('dashboard_job')
    .values({ job_id: jobId, team_id: world.teamId, action: 'kill', actor: '{"kind":"admin"}', leased_until: new Date(Date.now() - 1000) })
    .execute()
  await db
    .insertInto('dashboard_job_item')
    .values([first, second].map((sandbox_id) => ({ job_id: jobId, sandbox_id })))
    .execute()
  api.ctx.jobs.wake()
  const job = await ended({ body: { jobId } } as Answer)
  expect(job).toMatchObject({ done: 2, failed: 0 })
})

it('is limited to a number of jobs for each team', async () => {
  const jobs = Array.from({ length: 5 }, () => ({
    job_id: randomUUID(),
    team_id: theirs.teamId,
    action: 'kill' as const,
    actor: '{}',
    leased_until: new Date(Date.now() + 3_600_000),
  }))
  await world.database.db.insertInto('dashboard_job').values(jobs).execute()
  const their = await new Browser(api).logIn({ key: theirs.apiKey })
  expect((await make({ action: 'kill', match: {} }, their)).status).toBe(429)
  expect((await make({ action: 'kill', match: { search: 'nothing' } })).body).toMatchObject({ status: 'done', total: 0 })
})

it.each([
  { action: 'kill' },
  { action: 'kill', ids: [], match: {} },
  { action: 'kill', ids: ['a'], match: {} },
  { action: 'extend', ids: ['a'] },
  { action: 'kill', ids: ['a'], seconds: 5 },
  { action: 'burn', ids: ['a'] },
  { action: 'kill', ids: ['A'] },
  { action: 'kill', ids: ['a'], requestId: 'x' },
  { action: 'kill', match: { metadata: 'x' } },
  { action: 'kill', ids: Array.from({ length: 1001 }, (_, at) => `i${at}`) },
])('refuses %j', async (body) => {
  expect((await make(body)).status).toBe(400)
})
