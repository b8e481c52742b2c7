import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { AppError } from '@sandyard/kit/errors/app-error'
import { addCaller, type Caller } from './support/build-callers.ts'
import { seedParty } from './support/templates.ts'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let stranger: Caller
let count = 0

beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ capabilities: { mounts: true } })
  stranger = await addCaller(world, api, 'Strangers')
})
afterAll(() => world[Symbol.asyncDispose]())

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
const newName = (): string => `data_${(count += 1)}`
const create = (name: string, headers: Record<string, string> = {}): Promise<Answer> =>
  api.call('POST', '/volumes', { body: { name }, headers })
const names = async (): Promise<string[]> => (await api.call('GET', '/volumes')).body.map(({ name }: { readonly name: string }) => name)

describe('[POST /volumes] [GET /volumes]', () => {
  it('creates an empty volume with a token, which the list has from then on', async () => {
    const name = newName()
    const { status, body } = await create(name)
    expect([status, body]).toEqual([201, { volumeID: expect.stringMatching(/^[0-9a-f-]{36}$/), name, token: expect.any(String) }])
    expect((await api.call('GET', '/volumes')).body).toContainEqual({ volumeID: body.volumeID, name })
    expect(world.engine.volumes.has(`fake/${body.volumeID}`)).toBe(true)
  })

  it('lists the oldest first, and names are case-sensitive', async () => {
    const name = newName()
    for (const each of [`b${name}`, `a${name}`, `B${name}`]) expect((await create(each)).status).toBe(201)
    expect((await names()).slice(-3)).toEqual([`b${name}`, `a${name}`, `B${name}`])
  })

  it.each(['', 'a b', 'ä', 'a/b', 'a'.repeat(129), '\0'])('refuses the name %j', async (name) => {
    expect((await create(name)).body).toEqual({ code: 400, message: 'Invalid volume name' })
  })

  it('does not bring back a volume that was deleted when its request is repeated', async () => {
    const [name, headers] = [newName(), { 'idempotency-key': `again-${count}` }]
    const { body } = await create(name, headers)
    expect((await create(name, headers)).body).toMatchObject({ volumeID: body.volumeID })
    expect((await api.call('DELETE', `/volumes/${body.volumeID}`)).status).toBe(204)
    expect((await create(name, headers)).body).toEqual({ code: 404, message: 'Volume not found' })
  })

  it('makes two at once for a team, lets some wait, and refuses more; another team does not wait', async () => {
    const creates = () => api.runtime.faults.calls.filter((point) => point === 'volumes.create').length
    const before = creates()
    const holds = [api.runtime.faults.hold('volumes.create'), api.runtime.faults.hold('volumes.create')]
    const answers = Array.from({ length: 19 }, () => create(newName()))
    const statuses = Promise.all(answers.map(async (answer) => (await answer).status))
    await Promise.all(holds.map(({ reached }) => reached))
    expect(await Promise.race(answers.map(async (answer) => (await answer).status))).toBe(429)
    expect(creates() - before).toBe(2)
    expect((await stranger.withKey('POST', '/volumes', { name: newName() })).status).toBe(201)
    for (const hold of holds) hold.release()
    expect(
      Object.fromEntries(
        Map.groupBy(await statuses, String)
          .entries()
          .map(([status, { length }]) => [status, length]),
      ),
    ).toEqual({ 201: 18, 429: 1 })
  })

  it('refuses more while the files of many deleted ones are there', async () => {
    const { teamId, ...party } = await seedParty(world, 'Deleters')
    await sql`
      insert into volume (volume_id, team_id, name, created_by, deleted_at)
      select gen_random_uuid(), ${teamId}, 'gone' || n, '{}', clock_timestamp() from generate_series(1, 2000) as n
    `.execute(world.database.db)
    const { status, body } = await api.call('POST', '/volumes', { body: { name: 'one' }, apiKey: party.apiKey })
    expect([status, body.message]).toEqual([429, expect.stringMatching(/deleted/)])
    await world.database.db.deleteFrom('volume').where('team_id', '=', teamId).execute()
    expect((await api.call('POST', '/volumes', { body: { name: 'one' }, apiKey: party.apiKey })).status).toBe(201)
  })

  it('refuses a body without a name', async () => {
    const answer = await api.call('POST', '/volumes', { body: {} })
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(/^validation error/)])
  })

  it('refuses a name that the team has, and accepts it from another team', async () => {
    const name = newName()
    await create(name)
    expect((await create(name)).body).toEqual({ code: 400, message: `Volume with name '${name}' already exists` })
    expect((await stranger.withKey('POST', '/volumes', { name })).status).toBe(201)
  })

  it('makes one of several concurrent creates of a name', async () => {
    const name = newName()
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(name)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(7)
  })

  it('leaves nothing when the engine fails, so that the name is free', async () => {
    const name = newName()
    api.runtime.faults.failBefore('volumes.create')
    expect((await create(name)).status).toBe(503)
    expect(await names()).not.toContain(name)
    expect((await create(name)).status).toBe(201)
  })

  it('goes on with the same volume when a request with an idempotency key is repeated after the engine has failed', async () => {
    const [name, headers] = [newName(), { 'idempotency-key': `volume-${count}` }]
    api.runtime.faults.failBefore('volumes.create', new AppError('unavailable', 'gone'))
    expect((await create(name, headers)).status).toBe(503)
    const [first, second] = [await create(name, headers), await create(name, headers)]
    expect([first.status, second.status, second.body.volumeID]).toEqual([201, 201, first.body.volumeID])
    expect((await names()).filter((each) => each === name)).toEqual([name])
    expect((await create(`${name}x`, headers)).body.error_code).toBe('idempotency_request_mismatch')
  })

  it('refuses more than a thousand volumes of a team', async () => {
    const full = await addCaller(world, api, 'Full')
    await sql`
      insert into volume (volume_id, team_id, name, created_by)
      select gen_random_uuid(), ${full.teamId}, 'v' || n, '{}' from generate_series(1, 1000) as n
    `.execute(world.database.db)
    expect((await full.withKey('POST', '/volumes', { name: 'more' })).status).toBe(429)
    const { body } = await full.withKey('GET', '/volumes')
    expect(body).toHaveLength(1000)
    expect((await full.withKey('DELETE', `/volumes/${body[0].volumeID}`)).status).toBe(204)
    expect((await full.withKey('POST', '/volumes', { name: 'more' })).status).toBe(201)
  })
})

describe('[GET /volumes/{volumeID}]', () => {
  it('returns the volume with a new token each time', async () => {
    const { body: made } = await create(newName())
    const { status, body } = await api.call('GET', `/volumes/${made.volumeID.toUpperCase()}`)
    expect([status, body]).toEqual([200, { volumeID: made.volumeID, name: made.name, token: expect.any(String) }])
    expect(body.token).not.toBe(made.token)
  })

  it('issues tokens with the claims of the interface for an hour', async () => {
    const { body } = await create(newName())
    const claims = decodeJwt(body.token)
    const issuer = `https://api.${api.ctx.config.domain}`
    expect(claims).toMatchObject({ iss: issuer, aud: issuer, sub: world.teamId, volid: body.volumeID, voltype: 'fake', acc: 'rw' })
    expect([Number(claims.exp) - Number(claims.iat), claims.nbf]).toEqual([3600, claims.iat])
    expect(claims.jti).toMatch(/^[0-9a-f-]{36}$/)
    expect(decodeProtectedHeader(body.token)).toMatchObject({ alg: 'HS256', kid: expect.any(String) })
  })

  it.each([
    ['GET', 'no-uuid', 400, 'Invalid volume ID'],
    ['DELETE', 'no-uuid', 400, 'Invalid volume ID'],
    ['GET', UNKNOWN, 404, 'Volume not found'],
    ['DELETE', UNKNOWN, 404, 'Volume not found'],
  ] as const)('%s refuses %s', async (method, id, code, message) => {
    expect((await api.call(method, `/volumes/${id}`)).body).toEqual({ code, message })
  })
})

describe('[DELETE /volumes/{volumeID}]', () => {
  it('deletes the record at once, and frees the name', async () => {
    const { body } = await create(newName())
    expect((await api.call('DELETE', `/volumes/${body.volumeID}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE'] as const) expect((await api.call(method, `/volumes/${body.volumeID}`)).status).toBe(404)
    expect(await names()).not.toContain(body.name)
    const again = await create(body.name)
    expect([again.status, again.body.volumeID === body.volumeID]).toEqual([201, false])
  })
})

describe('the volumes of another team', () => {
  it('are unknown, and stay', async () => {
    const { body } = await create(newName())
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await stranger.withKey(method, `/volumes/${body.volumeID}`)).body).toEqual({ code: 404, message: 'Volume not found' })
    }
    expect((await stranger.withKey('GET', '/volumes')).text).not.toContain(body.volumeID)
    expect((await api.call('GET', `/volumes/${body.volumeID}`)).status).toBe(200)
  })
})

describe('a blocked team', () => {
  it('reads and deletes volumes, and creates none', async () => {
    const blocked = await addCaller(world, api, 'Blocked')
    const { body } = await blocked.withKey('POST', '/volumes', { name: 'data' })
    await world.database.db.updateTable('team').set({ is_blocked: true }).where('id', '=', blocked.teamId).execute()
    api.ctx.auth.cache.clear()
    expect((await blocked.withKey('POST', '/volumes', { name: 'more' })).body).toEqual({ code: 403, message: 'team is blocked' })
    expect((await blocked.withKey('GET', '/volumes')).body).toEqual([{ volumeID: body.volumeID, name: 'data' }])
    expect((await blocked.withKey('GET', `/volumes/${body.volumeID}`)).status).toBe(200)
    expect((await blocked.withKey('DELETE', `/volumes/${body.volumeID}`)).status).toBe(204)
  })
})

describe('a runtime without volumes', () => {
  it.each([
    ['GET', '/volumes'],
    ['POST', '/volumes'],
    ['GET', `/volumes/${UNKNOWN}`],
    ['DELETE', `/volumes/${UNKNOWN}`],
  ] as const)('refuses %s %s', async (method, url) => {
    const plain = await world.startServer()
    const body = method === 'POST' ? { name: newName() } : undefined
    expect((await plain.call(method, url, { body })).body).toEqual({ code: 403, message: 'use of volumes is not enabled' })
  })
})
