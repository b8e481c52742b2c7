import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let other: Server
let count = 0

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '1000', SANDYARD_MAX_BUILDS: '1000' } })
  other = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '1000', SANDYARD_MAX_BUILDS: '1000' } })
})
afterAll(() => world[Symbol.asyncDispose]())

const MISMATCH = { code: 422, message: 'The Idempotency-Key was used for another request.', error_code: 'idempotency_request_mismatch' }

/** The first generation of template operations accepts no API key. */
const token = (): Record<string, string> => ({ authorization: `Bearer ${world.credentials.accessToken}` })
const newKey = (): string => `key-${(count += 1)}`
const ask = (server: Server, path: string, key: string, body: object = {}): Promise<Answer> =>
  server.call('POST', path, { body, headers: { 'idempotency-key': key, ...token() } })
const create = async (): Promise<string> => (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
const rowsOf = async (table: 'build' | 'template'): Promise<number> =>
  (await world.database.db.selectFrom(table).selectAll().execute()).length

interface Create {
  readonly path: () => Promise<string>
  readonly body: object
  readonly different: object
  readonly status: number
}

const DOCKERFILE = 'FROM debian'
const CREATES: Readonly<Record<string, Create>> = {
  '[POST /v3/templates]': { path: async () => '/v3/templates', body: { name: 'once-3' }, different: { name: 'once-33' }, status: 202 },
  '[POST /v2/templates]': { path: async () => '/v2/templates', body: { alias: 'once-2' }, different: { alias: 'once-22' }, status: 202 },
  '[POST /templates]': {
    path: async () => '/templates',
    body: { dockerfile: DOCKERFILE },
    different: { dockerfile: `${DOCKERFILE}:12` },
    status: 202,
  },
  '[POST /templates/{templateID}]': {
    path: async () =>
      `/templates/${(await api.call('POST', '/templates', { headers: token(), body: { dockerfile: DOCKERFILE } })).body.templateID as string}`,
    body: { dockerfile: DOCKERFILE },
    different: { dockerfile: `${DOCKERFILE}:12` },
    status: 202,
  },
  '[POST /sandboxes/{sandboxID}/snapshots]': {
    path: async () => `/sandboxes/${await create()}/snapshots`,
    body: { name: 'once' },
    different: { name: 'twice' },
    status: 201,
  },
  '[POST /sandboxes/{sandboxID}/fork]': {
    path: async () => `/sandboxes/${await create()}/fork`,
    body: { count: 2 },
    different: { count: 1 },
    status: 201,
  },
}

describe.each(Object.entries(CREATES))('%s with an idempotency key', (_, { path, body, different, status }) => {
  it('has one effect and the same answer, on every server', async () => {
    const [url, key] = [await path(), newKey()]
    const first = await ask(api, url, key, body)
    expect(first.status).toBe(status)
    const [builds, templates, sandboxes] = [await rowsOf('build'), await rowsOf('template'), world.engine.sandboxes.size]
    for (const server of [api, other]) {
      const again = await ask(server, url, key, body)
      expect([again.status, again.body]).toEqual([status, first.body])
    }
    expect([await rowsOf('build'), await rowsOf('template'), world.engine.sandboxes.size]).toEqual([builds, templates, sandboxes])
  })

  it('refuses the key for another request, and serves another key', async () => {
    const [url, key] = [await path(), newKey()]
    expect((await ask(api, url, key, body)).status).toBe(status)
    expect((await ask(api, url, key, different)).body).toEqual(MISMATCH)
    const own = await ask(api, url, newKey(), body)
    expect(own.status).toBe(status)
  })

  it('has one effect when it is sent twice at the same time', async () => {
    const [url, key] = [await path(), newKey()]
    const answers = await Promise.all([api, other].map((server) => ask(server, url, key, body)))
    const served = answers.filter((answer) => answer.status === status)
    expect(answers.filter((answer) => answer.status !== status && answer.status !== 409)).toEqual([])
    expect(served.length).toBeGreaterThanOrEqual(1)
    for (const answer of served) expect(answer.body).toEqual(served[0]?.body)
  })
})

it('stores neither the key nor the answer in plain', async () => {
  const key = newKey()
  const { body } = await ask(api, '/v3/templates', key, { name: 'hidden' })
  const rows = await world.database.db.selectFrom('remembered_answer').selectAll().execute()
  const text = JSON.stringify(rows) + rows.map((row) => row.sealed_answer?.toString('latin1')).join('')
  expect(text).not.toContain(key)
  expect(text).not.toContain(body.buildID)
})

it('frees the key of a create that was refused', async () => {
  const key = newKey()
  const name = 'foreign/name'
  expect((await ask(api, '/v3/templates', key, { name })).status).toBeGreaterThanOrEqual(400)
  expect((await ask(api, '/v3/templates', key, { name: 'free' })).status).toBe(202)
})

it('says that a fork which has ended is not there any more', async () => {
  const [url, key] = [`/sandboxes/${await create()}/fork`, newKey()]
  const [first] = (await ask(api, url, key, { count: 1 })).body
  const id = first.sandbox.sandboxID as string
  expect((await api.call('DELETE', `/sandboxes/${id}`)).status).toBe(204)
  const again = await ask(api, url, key, { count: 1 })
  expect(again.body).toEqual([{ error: { code: 404, message: `The fork '${id}' did not start or has ended` } }])
})
