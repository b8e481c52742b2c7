import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { teamTransaction } from '../src/teams/team-transaction.ts'
import { addCaller, type Caller } from './support/build-callers.ts'
import { ADMIN_TOKEN, createWorld, DYING, waitFor, type Server, type World } from './support/control-plane.ts'
import { Browser } from './support/dashboard-browser.ts'

/** More than the server has connections. */
const MANY = 12

let world: World
let api: Server
let origin: string
let busy: Caller
let other: Caller
let browser: Browser
let count = 0
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({
    databaseUrl: world.database.url,
    env: { SANDYARD_MAX_SANDBOXES: '1000', SANDYARD_MAX_BUILDS: '1000', SANDYARD_SECRETS_KEY: 'ab'.repeat(32) },
    capabilities: { mounts: true },
    lookupHost: async () => ['8.8.8.8'],
  })
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 })
  ;[busy, other] = [await addCaller(world, api, 'Busy'), await addCaller(world, api, 'Other')]
  browser = await new Browser(api).logIn({ key: busy.apiKey })
  await world.database.db.updateTable('team').set({ max_stored_bytes: 1_000_000_000 }).where('id', '=', busy.teamId).execute()
})
afterAll(() => world[Symbol.asyncDispose]())

const newName = (): string => `name${(count += 1)}`

/** Connections of the server that wait for a lock. */
async function waitingConnections(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database() and application_name = ${DYING}
  `.execute(world.database.db)
  return rows.length
}

/** Runs `work` while the team is locked by another server. */
async function whileLocked<T extends object>(teamId: string, work: () => Promise<T>): Promise<T> {
  return world.database.transaction(async (tx) => {
    await tx.selectFrom('team').select('id').where('id', '=', teamId).forUpdate().execute()
    return work()
  })
}

type Send = () => Promise<{ readonly status: number }>
interface Kind {
  readonly name: string
  readonly status: number
  /** Makes what the requests need. */
  readonly prepare: () => Promise<Send>
}

const WEBHOOK = {
  url: 'https://public.test/hook',
  events: ['sandbox.lifecycle.created'],
  signatureSecret: 'a secret of thirty-two characters',
}

async function newSandbox(): Promise<string> {
  const { status, body } = await busy.withKey('POST', '/v2/sandboxes', { templateID: 'base', timeout: 600 })
  expect(status).toBe(201)
  return body.sandboxID
}

const newBuild = async (): Promise<{ readonly templateID: string; readonly buildID: string }> =>
  (await busy.withKey('POST', '/v3/templates', { name: newName() })).body

/** Makes one thing for each request. */
async function each<T>(make: () => Promise<T>, send: (made: T) => ReturnType<Send>): Promise<Send> {
  const made: T[] = []
  for (let n = 0; n < MANY; n += 1) made.push(await make())
  return () => send(made.shift() as T)
}

async function newUpload(): Promise<{ readonly url: string; readonly body: Buffer<ArrayBuffer> }> {
  const archive = pack()
  archive.entry({ name: 'a.txt' }, newName())
  archive.finalize()
  const hash = randomBytes(32).toString('hex')
  const { templateID } = await newBuild()
  const headers = { 'x-api-key': busy.apiKey }
  const answer = await fetch(`${origin}/templates/${templateID}/files/${hash}`, { headers })
  return { url: ((await answer.json()) as { readonly url: string }).url, body: Buffer.from(gzipSync(await buffer(archive))) }
}

const KINDS: readonly Kind[] = [
  { name: 'creates', status: 201, prepare: async () => () => busy.withKey('POST', '/v2/sandboxes', { templateID: 'base' }) },
  {
    name: 'resumes',
    status: 201,
    prepare: () =>
      each(
        async () => {
          const id = await newSandbox()
          expect((await busy.withKey('POST', `/sandboxes/${id}/pause`)).status).toBe(204)
          return id
        },
        (id) => busy.withKey('POST', `/sandboxes/${id}/resume`, { timeout: 600 }),
      ),
  },
  { name: 'forks', status: 201, prepare: () => each(newSandbox, (id) => busy.withKey('POST', `/sandboxes/${id}/fork`, { timeout: 600 })) },
  { name: 'snapshots', status: 201, prepare: () => each(newSandbox, (id) => busy.withKey('POST', `/sandboxes/${id}/snapshots`, {})) },
  { name: 'registrations of builds', status: 202, prepare: async () => () => busy.withKey('POST', '/v3/templates', { name: newName() }) },
  {
    name: 'starts of builds',
    status: 202,
    prepare: () =>
      each(newBuild, ({ templateID, buildID }) =>
        busy.withKey('POST', `/v2/templates/${templateID}/builds/${buildID}`, { fromImage: 'debian' }),
      ),
  },
  {
    name: 'deletes of templates',
    status: 204,
    prepare: () => each(newBuild, ({ templateID }) => busy.withKey('DELETE', `/templates/${templateID}`)),
  },
  {
    name: 'creates of webhooks',
    status: 201,
    prepare: async () => () => busy.withKey('POST', '/events/webhooks', { name: newName(), ...WEBHOOK }),
  },
  {
    name: 'creates of secrets',
    status: 201,
    prepare: async () => () => busy.withKey('POST', '/secrets', { name: newName(), value: 'value' }),
  },
  {
    name: 'creates of API keys',
    status: 201,
    prepare: async () => () => busy.withToken('POST', '/api-keys', { name: 'key' }, { 'x-team-id': busy.teamId }),
  },
  {
    name: 'creates of API keys by an administrator',
    status: 201,
    prepare: async () => () =>
      api.call('POST', `/admin/teams/${busy.teamId}/api-keys`, {
        apiKey: null,
        headers: { 'x-admin-token': ADMIN_TOKEN },
        body: { name: 'key' },
      }),
  },
  {
    name: 'changes by an administrator',
    status: 200,
    prepare: async () => () =>
      api.call('PATCH', `/admin/teams/${busy.teamId}`, {
        apiKey: null,
        headers: { 'x-admin-token': ADMIN_TOKEN },
        body: { name: newName() },
      }),
  },
  { name: 'lists of teams, which make keys', status: 200, prepare: async () => () => busy.withToken('GET', '/teams') },
  {
    name: 'jobs of the dashboard',
    status: 200,
    prepare: async () => () =>
      browser.call('POST', '/api/jobs', { body: { requestId: randomUUID(), action: 'kill', match: { search: 'nothing' } } }),
  },
  {
    name: 'uploads of archives',
    status: 200,
    prepare: () => each(newUpload, ({ url, body }) => fetch(url, { method: 'PUT', body })),
  },
  {
    name: 'uploads to a volume',
    status: 201,
    prepare: async () => {
      const { volumeID, token } = (await busy.withKey('POST', '/volumes', { name: newName() })).body
      const headers = { authorization: `Bearer ${token}` }
      return () => fetch(`${origin}/volumecontent/${volumeID}/file?path=/${newName()}`, { method: 'PUT', headers, body: 'text' })
    },
  },
]

describe('requests of a team whose row is locked', () => {
  it.each(KINDS)('leave the connections to the database to other teams: $name', async ({ status, prepare }) => {
    const send = await prepare()
    const { asked } = await whileLocked(busy.teamId, async () => {
      const asked = Array.from({ length: MANY }, send)
      await waitFor('the lock of the team', async () => (await waitingConnections()) > 0)
      expect((await other.withKey('POST', '/v2/sandboxes', { templateID: 'base' })).status).toBe(201)
      expect(await waitingConnections()).toBe(1)
      return { asked }
    })
    expect((await Promise.all(asked)).map((answer) => answer.status)).toEqual(Array.from({ length: MANY }, () => status))
  })

  it('leave them also when they are of all kinds', async () => {
    const sends: { readonly send: Send; readonly status: number }[] = []
    for (const { prepare, status } of KINDS) sends.push({ send: await prepare(), status })
    const { asked } = await whileLocked(busy.teamId, async () => {
      const asked = sends.flatMap(({ send }) => Array.from({ length: 4 }, send))
      await waitFor('the lock of the team', async () => (await waitingConnections()) > 0)
      expect((await other.withKey('POST', '/v2/sandboxes', { templateID: 'base' })).status).toBe(201)
      expect(await waitingConnections()).toBe(1)
      return { asked }
    })
    const statuses = sends.flatMap(({ status }) => Array.from({ length: 4 }, () => status))
    expect((await Promise.all(asked)).map((answer) => answer.status)).toEqual(statuses)
  })

  it('are refused when too many wait, but not those of an administrator', async () => {
    const body = { requestId: randomUUID(), action: 'kill', match: { search: 'nothing' } }
    const ask = () => browser.call('POST', '/api/jobs', { body })
    const refusal = {
      status: 429,
      headers: { 'retry-after': '1' },
      body: { message: 'Too many requests of the team wait for each other: try again' },
    }
    const { changes, asked } = await whileLocked(busy.teamId, async () => {
      const asked = Array.from({ length: 600 }, ask)
      expect(await Promise.race(asked)).toMatchObject(refusal)
      const headers = { 'x-admin-token': ADMIN_TOKEN }
      const change = () => api.call('PATCH', `/admin/teams/${busy.teamId}`, { apiKey: null, headers, body: { name: newName() } })
      const changes = Array.from({ length: 5 }, change)
      for (let n = 0; n < 5; n += 1) expect(await ask()).toMatchObject(refusal)
      return { changes, asked }
    })
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual(changes.map(() => 200))
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200, 429]))
  })

  it('do nothing when their client has gone before their turn', async () => {
    const names = { waiting: newName(), gone: newName() }
    const { first } = await whileLocked(busy.teamId, async () => {
      const first = busy.withKey('POST', '/secrets', { name: names.waiting, value: 'value' })
      await waitFor('the lock of the team', async () => (await waitingConnections()) === 1)
      const headers = { 'x-api-key': busy.apiKey, 'content-type': 'application/json' }
      const leaving = request(`${origin}/secrets`, { method: 'POST', headers })
      const left = new Promise((resolve) => leaving.once('error', resolve))
      leaving.end(JSON.stringify({ name: names.gone, value: 'value' }))
      await waitFor('the second request', () => api.ctx.drain.inFlight === 2)
      leaving.destroy(new Error('gone'))
      await left
      await waitFor('the server has seen it', () => api.ctx.drain.inFlight === 1)
      return { first }
    })
    expect((await first).status).toBe(201)
    // It would have its turn before this one.
    expect((await busy.withKey('POST', '/secrets', { name: newName(), value: 'value' })).status).toBe(201)
    expect((await busy.withKey('GET', `/secrets/${names.gone}`)).status).toBe(404)
  })
})

it('limits of a team hold over servers, which do not know the turns of each other', async () => {
  const counted = await addCaller(world, api, 'Counted')
  await world.database.db.updateTable('team').set({ max_sandboxes: 5 }).where('id', '=', counted.teamId).execute()
  const second = await world.startServer({ databaseUrl: world.database.url })
  const create = (server: Server) => server.call('POST', '/v2/sandboxes', { apiKey: counted.apiKey, body: { templateID: 'base' } })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => create(n % 2 === 0 ? api : second)))
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  expect(statuses).toEqual(Array.from({ length: 20 }, (_, n) => (n < 5 ? 201 : 429)))
})

describe('a transaction of a team', () => {
  const own = () => teamTransaction(world.database, { teamId: busy.teamId }, async ({ id }) => id)

  it('is refused within another transaction, which would wait with its connection', async () => {
    await expect(world.database.transaction(own)).rejects.toThrow('a turn is taken before a transaction begins')
    await expect(teamTransaction(world.database, { teamId: other.teamId }, own)).rejects.toThrow('a turn is taken before')
    expect(await own()).toBe(busy.teamId)
  })

  it('may come of a transaction that is over', async () => {
    const over = Promise.withResolvers<void>()
    const later = await world.database.transaction(async () => ({ done: over.promise.then(own) }))
    over.resolve()
    expect(await later.done).toBe(busy.teamId)
  })

  it('is refused for a team that is not there', async () => {
    const gone = { teamId: randomUUID(), onGone: () => new Error('there is no such team') }
    await expect(teamTransaction(world.database, gone, own)).rejects.toThrow('there is no such team')
  })
})

describe('changes of the end time of one sandbox', () => {
  it('wait for each other, without connections that others need', async () => {
    const id = await newSandbox()
    const sent = await world.database.transaction(async (tx) => {
      await tx.selectFrom('sandbox').select('sandbox_id').where('sandbox_id', '=', id).forUpdate().execute()
      const timeouts = Array.from({ length: MANY }, () => busy.withKey('POST', `/sandboxes/${id}/timeout`, { timeout: 700 }))
      const connects = Array.from({ length: MANY }, () => busy.withKey('POST', `/sandboxes/${id}/connect`, { timeout: 800 }))
      await waitFor('one that waits', async () => (await waitingConnections()) > 0)
      expect((await other.withKey('POST', '/v2/sandboxes', { templateID: 'base' })).status).toBe(201)
      expect(await waitingConnections()).toBe(1)
      return [...timeouts, ...connects]
    })
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses).toEqual([...Array.from({ length: MANY }, () => 204), ...Array.from({ length: MANY }, () => 200)])
  })
})

describe('slow reads of a team', () => {
  it.each([
    ['with a key', 200, () => busy.withKey('GET', '/volumes')],
    ['in the dashboard', 404, () => browser.call('GET', `/api/volumes/${randomUUID()}/files?path=/`)],
  ])('leave connections to the others, and to look-ups of credentials: %s', async (_, status, read) => {
    const { sent } = await world.database.transaction(async (tx) => {
      await sql`lock table volume in access exclusive mode`.execute(tx)
      const sent = Array.from({ length: 2 * MANY }, read)
      await waitFor('reads that wait for the table', async () => (await waitingConnections()) > 1)
      await waitFor('reads that wait for a connection', () => api.ctx.database.pool.waiting > MANY)
      api.ctx.auth.cache.clear()
      for (let n = 0; n < 3; n += 1) expect((await other.withKey('GET', '/v2/sandboxes')).status).toBe(200)
      expect(api.ctx.database.pool.waiting).toBeGreaterThan(MANY)
      return { sent }
    })
    expect((await Promise.all(sent)).map((answer) => answer.status)).toEqual(sent.map(() => status))
  })
})
