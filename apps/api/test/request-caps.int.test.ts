import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
let busy: Caller
let other: Caller
beforeAll(async () => {
  world = await createWorld()
  const api = await world.startServer()
  ;[busy, other] = [await addCaller(world, api, 'Busy'), await addCaller(world, api, 'Other')]
})
afterAll(() => world[Symbol.asyncDispose]())

interface Listening {
  readonly api: Server
  readonly url: string
  readonly port: number
}

async function start(env: Readonly<Record<string, string>>): Promise<Listening> {
  const api = await world.startServer({ env, capabilities: { mounts: true } })
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  return { api, url, port: Number(new URL(url).port) }
}

async function ask({ url }: Listening, { apiKey }: Caller, path = '/v2/sandboxes', headers = {}) {
  const answer = await fetch(`${url}${path}`, { headers: { 'x-api-key': apiKey, ...headers } })
  const { message } = (await answer.json().catch(() => ({}))) as { readonly message?: string }
  return { status: answer.status, retry: answer.headers.get('retry-after'), message }
}

const refusedBy = async ({ api }: Listening, cap: string): Promise<number> => {
  const { values } = await api.ctx.metrics.refusedRequests.get()
  return values.find(({ labels }) => labels.cap === cap)?.value ?? 0
}

/** Requests that are in flight until `work` has ended. */
async function whileInFlight(server: Listening, count: number, work: () => Promise<void>, headers: object = {}): Promise<void> {
  const asked = await world.database.transaction(async (tx) => {
    await sql`lock table volume in access exclusive mode`.execute(tx)
    const asked = Array.from({ length: count }, () => ask(server, busy, '/volumes', headers))
    await waitFor('the requests', () => server.api.ctx.drain.inFlight === count)
    await work()
    return { all: asked }
  })
  expect((await Promise.all(asked.all)).map(({ status }) => status)).toEqual(asked.all.map(() => 200))
}

describe('requests in flight', () => {
  it('have a cap for each team', async () => {
    const server = await start({ SANDYARD_API_MAX_TEAM_REQUESTS: '3' })
    const message = 'There are too many requests in flight of this team (3): try again'
    await whileInFlight(server, 3, async () => {
      expect(await ask(server, busy)).toEqual({ status: 429, retry: '1', message })
      expect((await ask(server, other)).status).toBe(200)
    })
    expect((await ask(server, busy)).status).toBe(200)
    expect(await refusedBy(server, 'team_requests')).toBe(1)
  })

  it('have a cap for each client address, which a trusted proxy tells', async () => {
    const server = await start({ SANDYARD_API_MAX_CLIENT_REQUESTS: '3', SANDYARD_TRUSTED_PROXIES: '127.0.0.1' })
    const [from, also] = [{ 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-for': '192.0.2.2' }]
    const message = 'There are too many requests in flight of this address (3): try again'
    await whileInFlight(
      server,
      3,
      async () => {
        expect(await ask(server, other, '/v2/sandboxes', from)).toEqual({ status: 429, retry: '1', message })
        expect((await ask(server, other, '/v2/sandboxes', also)).status).toBe(200)
        expect((await fetch(`${server.url}/health`, { headers: from })).status).toBe(200)
      },
      from,
    )
    expect((await ask(server, other, '/v2/sandboxes', from)).status).toBe(200)
    expect(await refusedBy(server, 'client_requests')).toBe(1)
  })

  it('have a cap for the server', async () => {
    const server = await start({ SANDYARD_API_MAX_REQUESTS: '3' })
    const message = 'The server has too many requests in flight (3): try again'
    await whileInFlight(server, 3, async () => {
      expect(await ask(server, other)).toEqual({ status: 503, retry: '1', message })
    })
    expect(await refusedBy(server, 'requests')).toBe(1)
  })

  it('count until their work has ended, also when their client has gone', async () => {
    const server = await start({ SANDYARD_API_MAX_TEAM_REQUESTS: '1' })
    const leaving: ClientRequest[] = []
    await world.database.transaction(async (tx) => {
      await sql`lock table volume in access exclusive mode`.execute(tx)
      const sending = request(`${server.url}/volumes`, { headers: { 'x-api-key': busy.apiKey } }).end()
      sending.on('error', () => undefined)
      leaving.push(sending)
      await waitFor('its query', async () => (await waitingQueries()) > 0)
      sending.destroy()
      await waitFor('the server has seen it', () => server.api.ctx.drain.inFlight === 0)
      expect((await ask(server, busy)).status).toBe(429)
    })
    await waitFor('the end of its work', async () => (await ask(server, busy)).status === 200)
  })
})

it('no work begins for a client that has gone during its authentication', async () => {
  const server = await start({})
  const { body } = await server.api.call('POST', '/v2/sandboxes', { apiKey: busy.apiKey, body: { templateID: 'base' } })
  const path = `/sandboxes/${(body as { readonly sandboxID: string }).sandboxID}`
  await world.database.transaction(async (tx) => {
    await sql`lock table api_key in access exclusive mode`.execute(tx)
    server.api.ctx.auth.cache.clear()
    const sending = request(`${server.url}${path}`, { method: 'DELETE', headers: { 'x-api-key': busy.apiKey } }).end()
    sending.on('error', () => undefined)
    await waitFor('its look-up', async () => (await waitingQueries()) > 0)
    sending.destroy()
    await waitFor('the server has seen it', () => server.api.ctx.drain.inFlight === 0)
  })
  expect((await ask(server, busy, path)).status).toBe(200)
  expect((await ask(server, busy, path)).status).toBe(200)
})

async function waitingQueries(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
  `.execute(world.database.db)
  return rows.length
}

describe('open connections', () => {
  const open = async ({ port }: Listening): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const served = ({ api }: Listening) => new Promise<number>((resolve) => api.app.server.getConnections((_, count) => resolve(count)))
  const get = async ({ url }: Listening): Promise<IncomingMessage> => {
    const [answer] = (await once(
      request(`${url}/v2/sandboxes`, { headers: { 'x-api-key': other.apiKey }, agent: false }).end(),
      'response',
    )) as [IncomingMessage]
    return answer
  }

  it.each([
    ['a client address', 'SANDYARD_API_MAX_CLIENT_CONNECTIONS', 429, 'There are too many open connections of this address (2): try again'],
    ['the server', 'SANDYARD_API_MAX_CONNECTIONS', 503, 'The server has too many open connections (2): try again'],
  ])('have a cap for %s; one above it has its refusal and is closed', async (_, name, status, message) => {
    const server = await start({ [name]: '2' })
    const first = await open(server)
    await open(server)
    await waitFor('the connections', async () => (await served(server)) === 2)
    const answer = await get(server)
    expect([answer.statusCode, answer.headers.connection, answer.headers['retry-after']]).toEqual([status, 'close', '1'])
    expect(JSON.parse(await text(answer))).toMatchObject({ message })
    first.destroy()
    await waitFor('a place', async () => (await get(server)).statusCode === 200)
  })

  it('that are refused have a cap too, above which they are closed at once', async () => {
    const server = await start({ SANDYARD_API_MAX_CLIENT_CONNECTIONS: '1' })
    await open(server)
    const refused = await Promise.all(Array.from({ length: 140 }, () => open(server)))
    await waitFor('the closed ones', () => refused.filter((socket) => socket.destroyed).length >= 12)
    expect(await refusedBy(server, 'client_connections')).toBe(140)
  })

  it('of a trusted proxy count for the server only', async () => {
    const server = await start({ SANDYARD_API_MAX_CLIENT_CONNECTIONS: '1', SANDYARD_TRUSTED_PROXIES: '127.0.0.0/8' })
    for (let n = 0; n < 3; n += 1) await open(server)
    expect((await get(server)).statusCode).toBe(200)
  })
})
