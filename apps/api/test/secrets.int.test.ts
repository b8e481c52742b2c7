import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { PassThrough } from 'node:stream'

const VALUE = 'correct horse battery staple'
const KEY = randomBytes(32).toString('hex')
const INVALID = { code: 400, message: 'Invalid secrets request' }

let world: World
let api: Server
let logged = ''
beforeAll(async () => {
  world = await createWorld()
  const stream = new PassThrough()
  stream.on('data', (chunk: Buffer) => (logged += chunk.toString()))
  api = await world.startServer({
    env: { SANDYARD_SECRETS_KEY: KEY },
    log: createLogger({ name: 'test', level: 'trace', destination: stream }),
  })
})
afterAll(() => world[Symbol.asyncDispose]())

let count = 0
const newName = (): string => `name-${(count += 1)}`
const create = (body: object, headers: Record<string, string> = {}): Promise<Answer> => api.call('POST', '/secrets', { body, headers })
const update = (ref: string, body: object): Promise<Answer> => api.call('POST', `/secrets/${ref}`, { body })

describe('secrets', () => {
  it('[POST /secrets] creates one, whose name is stored in lower case, and never returns its value', async () => {
    const { status, body, headers, text } = await create({ name: 'OpenAI_Key-1', value: VALUE, metadata: { owner: 'me' } })
    expect([status, headers['cache-control']]).toEqual([201, 'no-store'])
    expect(body).toEqual({
      secretID: expect.stringMatching(/^sec_[0-7][0-9a-hjkmnp-tv-z]{25}$/) as string,
      name: 'openai_key-1',
      currentVersion: 1,
      metadata: { owner: 'me' },
      createdAt: expect.stringMatching(/Z$/) as string,
      updatedAt: expect.stringMatching(/Z$/) as string,
    })
    expect(text).not.toContain(VALUE)
  })

  it('[GET /secrets/{secretID}] is found by its id and its name in any case', async () => {
    const { body } = await create({ name: 'Found', value: VALUE })
    for (const ref of [body.secretID, 'found', 'FOUND']) {
      const answer = await api.call('GET', `/secrets/${ref}`)
      expect([answer.status, answer.body, answer.headers['cache-control']]).toEqual([200, { ...body, metadata: {} }, 'no-store'])
    }
  })

  it('[POST /secrets/{secretID}] gets a new version; absent metadata stays, an empty one clears it', async () => {
    const { body } = await create({ name: 'changed', value: VALUE, metadata: { a: 'b' } })
    const first = await update('Changed', { value: 'two' })
    expect([first.status, first.body]).toEqual([200, { ...body, currentVersion: 2, updatedAt: first.body.updatedAt }])
    expect((await update(body.secretID, { value: 'three', metadata: {} })).body).toMatchObject({ currentVersion: 3, metadata: {} })
    expect((await api.call('GET', '/secrets/changed')).body).toMatchObject({ currentVersion: 3, createdAt: body.createdAt })
  })

  it('keep their newest ten versions, also under concurrent updates', async () => {
    const { secretID } = (await create({ name: 'many', value: VALUE })).body
    const answers = await Promise.all(Array.from({ length: 14 }, (_, i) => update('many', { value: `value ${i}` })))
    expect(answers.map(({ body }) => body.currentVersion as number).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 14 }, (_, i) => i + 2),
    )
    const rows = await world.database.db
      .selectFrom('secret_version')
      .select('version')
      .where('secret_id', '=', secretID)
      .orderBy('version')
      .execute()
    expect(rows.map(({ version }) => version)).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  })

  it('[DELETE /secrets/{secretID}] is deleted with its versions, by id or name, once', async () => {
    const { secretID } = (await create({ name: 'gone', value: VALUE })).body
    expect((await api.call('DELETE', '/secrets/GONE')).status).toBe(204)
    const again = await api.call('DELETE', `/secrets/${secretID}`)
    expect([again.status, again.body]).toEqual([404, { code: 404, message: 'Secret not found' }])
    expect(await world.database.db.selectFrom('secret_version').where('secret_id', '=', secretID).selectAll().execute()).toEqual([])
    expect((await create({ name: 'gone', value: VALUE })).status).toBe(201)
  })

  it('[GET /secrets] are listed in pages, newest first, each once', async () => {
    const team = (
      await world.database.db
        .insertInto('team')
        .values({ name: 'p', slug: 'pages', email: 'p@x' })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id
    const headers = { 'x-admin-token': 'admin-secret', 'x-team-id': team }
    const names: string[] = []
    for (let i = 0; i < 5; i += 1) {
      names.unshift(`page-${i}`)
      await api.call('POST', '/secrets', { body: { name: `page-${i}`, value: VALUE }, headers, apiKey: null })
    }
    const seen: { readonly name: string; readonly createdAt: string }[] = []
    let query = 'limit=2'
    for (let page = 0; page < 3; page += 1) {
      const { body, headers: sent } = await api.call('GET', `/secrets?${query}`, { headers, apiKey: null })
      seen.push(...(body as typeof seen))
      query = `limit=2&nextToken=${encodeURIComponent(String(sent['x-next-token']))}`
      expect(sent['x-next-token'] === undefined).toBe(page === 2)
    }
    expect(seen.map(({ name }) => name).sort()).toEqual(names.sort())
    const times = seen.map(({ createdAt }) => createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  it('repeat a create and an update with the same key without a second effect', async () => {
    const name = newName()
    const key = { 'idempotency-key': `secret-${name}` }
    const first = await create({ name, value: VALUE }, key)
    expect((await create({ name, value: VALUE }, key)).body).toEqual(first.body)
    expect((await create({ name, value: 'another' }, key)).status).toBe(422)
    const change = (): Promise<Answer> => api.call('POST', `/secrets/${name}`, { body: { value: 'x' }, headers: key })
    expect([(await change()).body.currentVersion, (await change()).body.currentVersion]).toEqual([2, 2])
  })
})

describe('a request that is not valid', () => {
  it.each<[string, object]>([
    ['no name', { value: 'v' }],
    ['an empty name', { name: '', value: 'v' }],
    ['a long name', { name: 'a'.repeat(129), value: 'v' }],
    ['a name with a dot', { name: 'a.b', value: 'v' }],
    ['a name with a line break', { name: 'ab\n', value: 'v' }],
    ['a name like an id', { name: 'SEC_a', value: 'v' }],
    ['no value', { name: 'n' }],
    ['an empty value', { name: 'n', value: '' }],
    ['a value that is a number', { name: 'n', value: 5 }],
    ['a long value', { name: 'n', value: 'ä'.repeat(32 * 1024 + 1) }],
    ['a value with NUL', { name: 'n', value: 'a\0' }],
    ['too many entries', { name: 'n', value: 'v', metadata: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'v'])) }],
    ['a long key', { name: 'n', value: 'v', metadata: { ['ä'.repeat(65)]: 'v' } }],
    ['a long text', { name: 'n', value: 'v', metadata: { k: 'a'.repeat(1025) } }],
    [
      'too much metadata',
      { name: 'n', value: 'v', metadata: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`k${i}`, 'a'.repeat(1000)])) },
    ],
    ['metadata that is not text', { name: 'n', value: 'v', metadata: { k: 1 } }],
    ['metadata of null', { name: 'n', value: 'v', metadata: null }],
  ])('has one fixed text: %s', async (_, body) => {
    const answer = await create(body)
    expect([answer.status, answer.body, answer.headers['cache-control']]).toEqual([400, INVALID, 'no-store'])
  })

  it('is refused so for parameters, cursors, keys and bodies that are no JSON', async () => {
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'nextToken=x', 'nextToken=']) {
      expect((await api.call('GET', `/secrets?${query}`)).body).toEqual(INVALID)
    }
    expect((await create({ name: 'n', value: 'v' }, { 'idempotency-key': 'Not Valid' })).body).toEqual(INVALID)
    for (const url of ['/secrets', '/secrets/x']) {
      const headers = { 'x-api-key': world.credentials.apiKey, 'content-type': 'application/json' }
      const answer = await api.app.inject({ method: 'POST', url, headers, payload: `{"name":"n","value":"${VALUE}` })
      expect(answer.json()).toEqual(INVALID)
    }
  })

  it('keeps its text without a credential, and for a path below a secret', async () => {
    const refused = await api.call('POST', '/secrets', { body: { value: 'v' }, apiKey: null })
    expect([refused.status, refused.body.message]).toEqual([401, 'authorization header is missing'])
    for (const path of ['/secrets/a/b', '/secrets/a/b/c']) {
      expect((await api.call('GET', path)).body).toEqual({ code: 404, message: 'Not found' })
    }
    for (const ref of ['unknown', 'sec_00000000000000000000000000', 'a%2Fb', '%00', 'a.b', '%F0%9F%92%A9']) {
      const answer = await api.call('GET', `/secrets/${ref}`)
      expect([answer.status, answer.body]).toEqual([404, { code: 404, message: 'Secret not found' }])
    }
    expect((await update('unknown', { value: 'v' })).body).toEqual({ code: 404, message: 'Secret not found' })
  })
})

describe('what cannot be', () => {
  const conflict = { code: 409, message: 'Secret cannot be modified in its current state' }

  it('refuses a name that exists, in any case, and makes one of concurrent creates', async () => {
    const name = newName()
    const answers = await Promise.all([name, name.toUpperCase(), name].map((each) => create({ name: each, value: VALUE })))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409])
    expect((await create({ name, value: VALUE })).body).toEqual(conflict)
  })

  it('refuses more than a thousand secrets of a team', async () => {
    const { id } = await world.database.db
      .insertInto('team')
      .values({ name: 'f', slug: 'full', email: 'f@x' })
      .returning('id')
      .executeTakeFirstOrThrow()
    await sql`insert into secret (secret_id, team_id, name, current_version) select 'sec_' || i, ${id}, 'n' || i, 1 from generate_series(1, 1000) as i`.execute(
      world.database.db,
    )
    const answer = await api.call('POST', '/secrets', {
      body: { name: 'more', value: 'v' },
      headers: { 'x-admin-token': 'admin-secret', 'x-team-id': id },
      apiKey: null,
    })
    expect([answer.status, answer.body]).toEqual([409, { ...conflict, error_code: 'secret_limit_reached' }])
  })

  it('shows nothing of one team to another', async () => {
    const { id } = await world.database.db
      .insertInto('team')
      .values({ name: 'o', slug: 'other', email: 'o@x' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const headers = { 'x-admin-token': 'admin-secret', 'x-team-id': id }
    const name = newName()
    const { secretID } = (await create({ name, value: VALUE })).body
    for (const ref of [name, secretID]) {
      for (const [method, body] of [['GET'], ['POST', { value: 'v' }], ['DELETE']] as const) {
        const answer = await api.call(method, `/secrets/${ref}`, { headers, apiKey: null, ...(body && { body }) })
        expect([method, answer.status]).toEqual([method, 404])
      }
    }
    expect((await api.call('GET', '/secrets', { headers, apiKey: null })).body).toEqual([])
  })

  it('answers 504 when the database takes too long', async () => {
    const list = await world.database.transaction(async (tx) => {
      await sql`lock table secret in access exclusive mode`.execute(tx)
      const answer = api.call('GET', '/secrets')
      await waitFor('the end of a statement', async () => {
        const { rows } = await sql`
          select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        `.execute(world.database.db)
        return rows.length > 0
      })
      return answer
    })
    expect([list.status, list.body]).toEqual([504, { code: 504, message: 'Secrets backend timed out' }])
  })

  it('is off without a key of the operator', async () => {
    await using off = await world.startServer()
    for (const [method, url, body] of [
      ['GET', '/secrets'],
      ['POST', '/secrets', { name: 'n', value: 'v' }],
      ['GET', '/secrets/n'],
      ['POST', '/secrets/n', { value: 'v' }],
      ['DELETE', '/secrets/n'],
    ] as const) {
      const answer = await off.call(method, url, { ...(body && { body }) })
      expect([answer.status, answer.body]).toEqual([403, { code: 403, message: 'Secrets are not available for this team' }])
    }
  })
})

it('keeps values out of the database and the log', async () => {
  const { rows: tables } = await sql<{
    name: string
  }>`select table_name as name from information_schema.tables where table_schema = 'public'`.execute(world.database.db)
  await create({ name: newName(), value: VALUE }, { 'idempotency-key': 'stored' })
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`select row_to_json(t)::text as text from ${sql.table(name)} as t`.execute(
      world.database.db,
    )
    const hex = Buffer.from(VALUE).toString('hex')
    expect(rows.filter(({ text }) => text.includes(VALUE) || text.includes(hex))).toEqual([])
  }
  expect(logged).toContain('createSecret')
  expect(logged).not.toContain(VALUE)
})
