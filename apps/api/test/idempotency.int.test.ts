import { AppError } from '@sandyard/kit/errors/app-error'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterAll(() => world[Symbol.asyncDispose]())

const create = (key: string, body: object = {}, url = '/v2/sandboxes'): Promise<Answer> =>
  api.call('POST', url, { body: { templateID: 'base', ...body }, headers: { 'idempotency-key': key } })

describe('an Idempotency-Key', () => {
  it.each(['/sandboxes', '/v2/sandboxes'])('returns the same answer on %s, also after the sandbox has ended', async (url) => {
    const key = `again${url.replaceAll('/', '-')}`
    const first = await create(key, { metadata: { a: 'b', c: 'd' }, secure: true }, url)
    const second = await create(key, { secure: true, metadata: { c: 'd', a: 'b' } }, url)
    expect([second.status, second.body]).toEqual([201, first.body])
    await api.call('DELETE', `/sandboxes/${first.body.sandboxID}`)
    expect((await create(key, { metadata: { a: 'b', c: 'd' }, secure: true }, url)).body).toEqual(first.body)
    expect(first.body.envdAccessToken).toMatch(/^[0-9a-f]{64}$/)
  })

  it('is refused for a different request', async () => {
    await create('other')
    const answer = await create('other', { timeout: 77 })
    expect([answer.status, answer.body.error_code]).toEqual([422, 'idempotency_request_mismatch'])
    expect((await create('other', {}, '/sandboxes')).status).toBe(422)
  })

  it('compares only fields of the interface, and refuses deep nesting', async () => {
    const first = await create('known', { unknown: 1, network: { other: 1 } })
    expect((await create('known', { unknown: 2, network: { another: [2] } })).body).toEqual(first.body)
    const send = (body: string): Promise<{ statusCode: number; json(): unknown }> =>
      api.app.inject({
        method: 'POST',
        url: '/v2/sandboxes',
        headers: { 'x-api-key': world.credentials.apiKey, 'content-type': 'application/json', 'idempotency-key': 'deep' },
        payload: body,
      })
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    for (const field of [
      `"mcp":${nested(100_000)}`,
      `"network":{"egressProxy":${nested(100)}}`,
      `"iam":{"tokens":{"t":{"audience":"a","tokenType":"b","c":${nested(61)}}}}`,
      `"unknown":${nested(64)}`,
    ]) {
      expect((await send(`{"templateID":"base",${field}}`)).json()).toEqual({
        code: 400,
        message: 'Error when parsing request: error when parsing request: it is nested deeper than 64 levels',
      })
    }
    expect((await send(`{"templateID":"base","unknown":${nested(63)}}`)).statusCode).toBe(201)
  })

  it('creates one sandbox for concurrent requests', async () => {
    const hold = api.runtime.faults.hold('create')
    const first = create('many')
    await hold.reached
    const others = await Promise.all(Array.from({ length: 5 }, () => create('many')))
    for (const other of others) {
      expect(other.body).toMatchObject({ code: 409, error_code: 'idempotency_in_progress' })
      expect(other.headers).toMatchObject({ 'should-retry': 'true', 'retry-after': '1' })
    }
    hold.release()
    const { body } = await first
    expect((await create('many')).body).toEqual(body)
  })

  it('is free again after a refusal and after an undone start', async () => {
    expect((await create('free', { templateID: 'nothing' })).status).toBe(404)
    expect((await create('free', { timeout: 0 })).status).toBe(400)
    api.runtime.faults.failBefore('create', new AppError('resource_exhausted', 'full'))
    expect((await create('free')).status).toBe(503)
    expect((await create('free', { timeout: 30 })).status).toBe(201)
  })

  it('stays taken until a failed start is undone', async () => {
    api.runtime.faults.failBefore('create', new AppError('internal', 'broken'))
    api.runtime.faults.failBefore('remove')
    expect(await create('stuck')).toMatchObject({ status: 500, headers: { 'should-retry': 'false' } })
    expect((await create('stuck')).status).toBe(409)
  })

  it('belongs to a team', async () => {
    const { id } = await world.database.db
      .insertInto('team')
      .values({ name: 'Other', slug: 'other', email: 'other@acme.test' })
      .returning('id')
      .executeTakeFirstOrThrow()
    const first = await create('shared')
    const headers = { 'idempotency-key': 'shared', 'x-admin-token': 'admin-secret', 'x-team-id': id }
    const second = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, apiKey: null, headers })
    expect(second.status).toBe(201)
    expect(second.body.sandboxID).not.toBe(first.body.sandboxID)
  })

  it.each(['', 'UPPER', 'a b', 'a'.repeat(256)])('of the form %j is refused', async (key) => {
    expect((await create(key)).body).toMatchObject({ code: 400, message: expect.stringMatching(/^validation error: .*idempotency-key/) })
  })

  it('stores no secret', async () => {
    await create('secret', { envVars: { TOKEN: 'hush-hush' } })
    const rows = await world.database.db.selectFrom('idempotency_key').selectAll().execute()
    expect(JSON.stringify(rows)).not.toMatch(/hush-hush|envdAccessToken/)
  })
})
