import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server
let url: URL
beforeAll(async () => {
  world = await createWorld()
  // Each body is a late one.
  api = await world.startServer({ loops: true, app: { authenticatesAgainAfterMs: 0 } })
  url = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
})
afterAll(() => world[Symbol.asyncDispose]())

type Headers = Readonly<Record<string, string>>

/** Sends the head of a `POST`, and the body when it is called. */
function begin(path: string, headers: Headers, body: object) {
  const bytes = JSON.stringify(body)
  const sending = request(new URL(path, url), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'content-length': bytes.length },
  })
  const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
    sending.on('error', reject).on('response', (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, text: body }), reject)
    })
  })
  sending.flushHeaders()
  return () => {
    sending.end(bytes)
    return answered
  }
}

describe('a body that comes late', () => {
  const keys = async (caller: Caller, name: string) => {
    const { body } = await caller.withToken('POST', '/api-keys', { name }, { 'x-team-id': caller.teamId })
    return body as { readonly id: string; readonly key: string }
  }
  const isUsed = async (id: string): Promise<boolean> => {
    const row = await world.database.db.selectFrom('api_key').select('last_used_at').where('id', '=', id).executeTakeFirst()
    return row?.last_used_at !== null
  }

  it('is refused when the key of its head was deleted meanwhile, and nothing is made; that of another key is served', async () => {
    const caller = await addCaller(world, api, 'Late')
    const [gone, kept] = [await keys(caller, 'gone'), await keys(caller, 'kept')]
    const sends = [gone, kept].map(({ key }) => begin('/v2/sandboxes', { 'x-api-key': key }, { templateID: world.templateId }))
    for (const { id } of [gone, kept]) await waitFor('the authentication of the head', () => isUsed(id))
    await caller.withToken('DELETE', `/api-keys/${gone.id}`, undefined, { 'x-team-id': caller.teamId })
    await waitFor('the refusal', async () => (await api.call('GET', '/v2/sandboxes', { apiKey: gone.key })).status === 401)
    const answers = await Promise.all(sends.map((send) => send()))
    expect(answers.map(({ status }) => status)).toEqual([401, 201])
    expect((await caller.withKey('GET', '/v2/sandboxes')).body).toHaveLength(1)
  })

  it('is refused when its team was blocked meanwhile', async () => {
    const caller = await addCaller(world, api, 'Stopped')
    const { id, key } = await keys(caller, 'used')
    const send = begin('/v2/sandboxes', { 'x-api-key': key }, { templateID: world.templateId })
    await waitFor('the authentication of the head', () => isUsed(id))
    await world.database.db.updateTable('team').set({ is_blocked: true }).where('id', '=', caller.teamId).execute()
    const start = async () => (await api.call('POST', '/v2/sandboxes', { apiKey: key, body: { templateID: 'none' } })).status
    await waitFor('the refusal', async () => (await start()) === 403)
    expect((await send()).text).toContain('team is blocked')
  })
})

describe('the issue of a credential', () => {
  const rowsOf = async (caller: Caller) => {
    const { db } = world.database
    const made = await db.selectFrom('api_key').select('name').where('team_id', '=', caller.teamId).where('name', '<>', 'seeded').execute()
    const tokens = await db.selectFrom('access_token').select('name').where('user_id', '=', caller.userId).execute()
    return [...made, ...tokens].map(({ name }) => name)
  }
  /** Runs a request, and `change` while its transaction waits for a lock on the row of its user or team. */
  const meanwhile = async (table: 'team' | 'app_user', id: string, ask: () => Promise<number>, change: (tx: Tx) => Promise<unknown>) => {
    let answer: Promise<number> | undefined
    await world.database.transaction(async (tx) => {
      await tx.selectFrom(table).select('id').where('id', '=', id).forUpdate().execute()
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
      answer = ask()
      await waitFor('the request', async () => {
        const waiting = sql`select from pg_stat_activity where ${rows[0]?.pid} = any(pg_blocking_pids(pid))`
        return (await waiting.execute(world.database.db)).rows.length > 0
      })
      await change(tx)
    })
    return answer
  }
  const REQUESTS = [
    ['POST', '/api-keys', 'team', { name: 'made' }],
    ['GET', '/teams', 'app_user', undefined],
    ['POST', '/access-tokens', 'app_user', { name: 'made' }],
  ] as const

  it.each(REQUESTS)('reads the rights of its user again: %s %s', async (method, path, table, body) => {
    const { db } = world.database
    const caller = await addCaller(world, api, `Issue-${table}-${method}`.toLowerCase().replaceAll('_', '-'))
    const { body: second } = await caller.withToken('POST', '/access-tokens', { name: 'second' })
    const locked = table === 'team' ? caller.teamId : caller.userId
    const ask = (token: string) => async () => {
      const headers = { authorization: `Bearer ${token}`, 'x-team-id': caller.teamId }
      return (await api.call(method, path, { apiKey: null, headers, ...(body !== undefined && { body }) })).status
    }
    const before = await rowsOf(caller)
    const gone = () => db.deleteFrom('access_token').where('id', '=', second.id).execute()
    expect(await meanwhile(table, locked, ask(second.token), gone)).toBe(401)
    expect(await rowsOf(caller)).toEqual(before.filter((name) => name !== 'second'))
    const allowed = await meanwhile(table, locked, ask(caller.accessToken), () => Promise.resolve())
    expect([method === 'GET' ? 200 : 201, before.length]).toEqual([allowed, (await rowsOf(caller)).length])
  })

  it('reads the membership of its user and the state of its team again', async () => {
    const { db } = world.database
    const caller = await addCaller(world, api, 'Members')
    const ask = async () => (await caller.withToken('POST', '/api-keys', { name: 'made' }, { 'x-team-id': caller.teamId })).status
    const set = (change: object) => (tx: Tx) => tx.updateTable('team').set(change).where('id', '=', caller.teamId).execute()
    const before = await rowsOf(caller)
    const leave = () => db.deleteFrom('team_member').where('user_id', '=', caller.userId).execute()
    const stay = () => db.insertInto('team_member').values({ team_id: caller.teamId, user_id: caller.userId, is_default: true }).execute()
    expect(await meanwhile('app_user', caller.userId, ask, leave)).toBe(401)
    await stay()
    expect(await rowsOf(caller)).toEqual(before)
    expect(await meanwhile('team', caller.teamId, ask, set({ is_blocked: true }))).toBe(403)
    expect(await rowsOf(caller)).toEqual(before)
    await world.database.transaction(set({ is_blocked: false }))
    expect(await meanwhile('team', caller.teamId, ask, set({ is_blocked: false }))).toBe(201)
  })
})
