import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isMutating, type Operation } from '@sandyard/api-contract/operation'
import { OPERATIONS } from '@sandyard/api-contract/operations'
import { forgetOld } from '../src/sandboxes/repair/sandbox-loops.ts'
import { ADMIN_TOKEN, createWorld, type Answer, type Server, type World } from './support/control-plane.ts'
import { readLog, type LogLine } from './support/read-log.ts'

const { log, lines } = readLog()
let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ log })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => void lines.splice(0))

let requests = 0
type Method = Operation['method']

interface Asked {
  readonly answer: Answer
  readonly rows: Awaited<ReturnType<typeof rowsOf>>
  readonly logged: LogLine[]
}

const rowsOf = (id: string) => world.database.db.selectFrom('audit').selectAll().where('request_id', '=', id).execute()

/** Sends a request and returns its records. */
async function ask(method: Method, url: string, options: Parameters<Server['call']>[2] = {}): Promise<Asked> {
  const id = `audit-${(requests += 1)}`
  const answer = await api.call(method, url, { ...options, headers: { ...options.headers, 'x-request-id': id } })
  return { answer, rows: await rowsOf(id), logged: lines.filter(({ requestId, audit }) => requestId === id && audit === true) }
}

const bearer = (): Record<string, string> => ({ authorization: `Bearer ${world.credentials.accessToken}` })
const admin = { 'x-admin-token': ADMIN_TOKEN }
const team = (): Record<string, string> => ({ 'x-team-id': world.teamId })

interface Credential {
  readonly headers: Record<string, string>
  readonly apiKey?: null
  readonly actor: string
}

/** Credentials that each set accepts, and how they are recorded. */
function credentialOf(auth: Exclude<Operation['auth'], 'none'>): Credential {
  switch (auth) {
    case 'T':
    case 'TU':
      return { headers: {}, actor: 'key' }
    case 'U':
    case 'G':
    case 'P':
      return { headers: bearer(), apiKey: null, actor: 'user' }
    case 'K':
      return { headers: { ...admin, ...team() }, apiKey: null, actor: 'admin' }
    case 'PT':
      return { headers: { ...bearer(), ...team() }, apiKey: null, actor: 'user' }
    case 'A':
      return { headers: admin, apiKey: null, actor: 'admin' }
  }
}

const MUTATING = OPERATIONS.filter((operation: Operation) => isMutating(operation))
const GUARDED = MUTATING.filter((operation): operation is typeof operation & { readonly auth: Exclude<Operation['auth'], 'none'> } => {
  return (operation as Operation).auth !== 'none'
})
const OPEN = MUTATING.filter((operation) => (operation as Operation).auth === 'none')

/** The path with an id of its kind for each parameter; such an object does not exist. */
const pathOf = ({ path }: Operation): string =>
  path
    .replace('{teamID}', world.teamId)
    .replaceAll(/\{(?:sandboxID)\}/g, 'inobody')
    .replaceAll(/\{\w+\}/g, '0f0e0d0c-0b0a-4908-8706-050403020100')

describe('every operation that changes something', () => {
  it.each(GUARDED)('leaves one record: $id', async (operation) => {
    const { actor, ...credential } = credentialOf(operation.auth)
    const { answer, rows, logged } = await ask(operation.method, pathOf(operation), { ...credential, body: {} })
    expect(answer.status).not.toBe(401)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ operation: operation.id, actor, status: answer.status, client_address: '127.0.0.1' })
    expect(logged).toHaveLength(1)
    expect(logged[0]).toMatchObject({ operation: operation.id, status: answer.status, caller: { kind: actor } })
  })

  it.each(GUARDED)('is only in the log without credentials: $id', async (operation) => {
    const { answer, rows, logged } = await ask(operation.method, pathOf(operation), { apiKey: null, body: {} })
    expect([answer.status, rows.length]).toEqual([401, 0])
    expect(logged.map(({ operation, status }) => [operation, status])).toEqual([[operation.id, 401]])
  })

  it.each(OPEN)('is in the log when its own credential is missing: $id', async (operation) => {
    const { rows, logged } = await ask(operation.method, pathOf(operation), { apiKey: null, body: {} })
    expect([rows.length, logged.map(({ operation }) => operation)]).toEqual([0, [operation.id]])
  })
})

it('does not record an operation that only reads', async () => {
  const { rows, logged } = await ask('GET', '/v2/sandboxes')
  expect([rows, logged]).toEqual([[], []])
})

describe('a record', () => {
  it('names the key, the team and the sandbox that was made', async () => {
    const body = { templateID: 'base', envVars: { TOKEN: 'not-for-the-record' } }
    const { answer, rows, logged } = await ask('POST', '/v2/sandboxes', { body })
    expect(rows[0]).toMatchObject({ team_id: world.teamId, actor: 'key', user_id: world.userId, status: 201 })
    expect(rows[0]?.targets).toEqual({ sandboxID: answer.body.sandboxID, templateID: answer.body.templateID, alias: 'base' })
    const key = await world.database.db.selectFrom('api_key').select('id').orderBy('created_at').executeTakeFirstOrThrow()
    expect(rows[0]?.credential_id).toBe(key.id)
    const all = JSON.stringify([rows, logged])
    expect(all).not.toContain(world.credentials.apiKey)
    expect(all).not.toContain('not-for-the-record')
  })

  it.each(['/v2/sandboxes', '/sandboxes'])('of a create is stored by the transaction that makes it run: %s', async (url) => {
    const { rows } = await ask('POST', url, { body: { templateID: 'base' } })
    expect(rows).toHaveLength(1)
    const written = await sql<{ audit: string; running: string }>`
      select audit.xmin::text as audit, event.xmin::text as running from audit, event
      where audit.request_id = ${rows[0]?.request_id} and event.request_id = audit.request_id and event.kind = 'sandbox.running'
    `.execute(world.database.db)
    expect(written.rows).toEqual([{ audit: written.rows[0]?.running, running: expect.any(String) }])
  })

  it('is left by a repeated create, which changes nothing', async () => {
    const repeated = { body: { templateID: 'base' }, headers: { 'idempotency-key': 'audited' } }
    const first = await ask('POST', '/v2/sandboxes', repeated)
    const second = await ask('POST', '/v2/sandboxes', repeated)
    expect(second.rows.map(({ status, targets }) => [status, targets])).toEqual(first.rows.map(({ status, targets }) => [status, targets]))
    expect(second.rows).toHaveLength(1)
  })

  it('is left by a create that fails, with its status', async () => {
    api.runtime.faults.failBefore('create')
    const { answer, rows } = await ask('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    expect(rows.map(({ status }) => status)).toEqual([answer.status])
    expect(answer.status).toBeGreaterThanOrEqual(500)
  })

  it('names the access token, and the team that the user acts for', async () => {
    const { rows } = await ask('POST', '/templates', {
      apiKey: null,
      headers: bearer(),
      body: { dockerfile: 'FROM debian:12', alias: 'old' },
    })
    const token = await world.database.db.selectFrom('access_token').select('id').executeTakeFirstOrThrow()
    expect(rows[0]).toMatchObject({ actor: 'user', credential_id: token.id, user_id: world.userId, team_id: world.teamId, status: 202 })
    expect(rows[0]?.targets).toMatchObject({ alias: 'old', templateID: expect.any(String), buildID: expect.any(String) })
  })

  it('is left by the upload of an archive, whose credential is its link', async () => {
    const { templateID } = (await api.call('POST', '/v3/templates', { body: { name: 'uploads' } })).body
    const hash = 'a'.repeat(64)
    const { url } = (await api.call('GET', `/templates/${templateID}/files/${hash}`)).body
    const { pathname, search } = new URL(url)
    const { rows } = await ask('PUT', `${pathname}${search}`, {
      apiKey: null,
      body: 'no archive',
      headers: { 'content-type': 'application/x-tar' },
    })
    expect(rows[0]).toMatchObject({ actor: 'link', team_id: world.teamId, operation: 'uploadTemplateFiles', targets: { hash } })
  })

  it('is left by a refused operation, with what it was about', async () => {
    const { rows } = await ask('DELETE', '/sandboxes/inobody')
    expect(rows[0]).toMatchObject({ status: 404, targets: { sandboxID: 'inobody' } })
  })

  it('can be stored whatever the client sends', async () => {
    const { answer, rows } = await ask('POST', '/templates/tags', { body: { target: 'a\0b', tags: ['\ud800'] } })
    expect(rows[0]).toMatchObject({ status: answer.status, targets: { target: 'ab', tags: ['\ufffd'] } })
  })

  it('has the address of the client, behind a trusted proxy the one that the proxy saw', async () => {
    await using behind = await world.startServer({ env: { SANDYARD_TRUSTED_PROXIES: '127.0.0.1' } })
    await behind.call('DELETE', '/sandboxes/inobody', { headers: { 'x-forwarded-for': '203.0.113.9', 'x-request-id': 'behind' } })
    expect((await rowsOf('behind'))[0]?.client_address).toBe('203.0.113.9')
  })

  it('is stored before the answer, many at once', async () => {
    const asked = await Promise.all(Array.from({ length: 150 }, () => ask('DELETE', '/sandboxes/inobody')))
    expect(asked.map(({ rows }) => rows.length)).toEqual(asked.map(() => 1))
  })

  it('is in the log only, for refused calls of a team over their limit', async () => {
    const auditRefusedLimit = { rate: 1, periodSeconds: 3600, burst: 3 }
    await using limited = await world.startServer({ app: { auditRefusedLimit }, log })
    const statuses = async (id: string, method: Method, url: string, body?: object): Promise<number[]> => {
      for (let calls = 0; calls < 5; calls += 1) await limited.call(method, url, { headers: { 'x-request-id': id }, ...(body && { body }) })
      return (await rowsOf(id)).map(({ status }) => status)
    }
    expect(await statuses('refused', 'DELETE', '/sandboxes/inobody')).toEqual([404, 404, 404])
    expect(lines.filter(({ requestId, audit }) => requestId === 'refused' && audit === true)).toHaveLength(5)
    expect(await statuses('accepted', 'POST', '/v2/sandboxes', { templateID: 'base' })).toEqual([201, 201, 201, 201, 201])
  })

  it('is deleted after its retention', async () => {
    const { rows } = await ask('DELETE', '/sandboxes/inobody')
    const old = (await ask('DELETE', '/sandboxes/inobody')).rows[0]?.audit_id ?? 0
    await sql`update audit set created_at = created_at - interval '91 days' where audit_id = ${old}`.execute(world.database.db)
    await forgetOld(world.database.db, api.ctx.config.retention)
    const left = await world.database.db.selectFrom('audit').select('audit_id').execute()
    expect(left.map(({ audit_id }) => audit_id)).toContain(rows[0]?.audit_id)
    expect(left.map(({ audit_id }) => audit_id)).not.toContain(old)
  })

  it('is in the log, and counted, when the database does not take it', async () => {
    const { db } = world.database
    await sql`alter table audit rename to audit_away`.execute(db)
    const answer = await api.call('DELETE', '/sandboxes/inobody', { headers: { 'x-request-id': 'unstored' } })
    await sql`alter table audit_away rename to audit`.execute(db)
    expect(answer.status).toBe(404)
    expect(lines.filter(({ requestId, audit }) => requestId === 'unstored' && audit === true)).toHaveLength(1)
    expect(lines.map(({ msg }) => msg)).toContain('audit records could not be stored: they are in the log only')
    expect(await api.ctx.metrics.registry.getSingleMetricAsString('sandyard_audit_unstored_total')).toMatch(/ 1$/)
  })
})
