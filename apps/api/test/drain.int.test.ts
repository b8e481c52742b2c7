import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const CREATE = JSON.stringify({ templateID: 'base', timeout: 60 })

async function startServer(): Promise<{ server: Server; url: string }> {
  const server = await world.startServer()
  await server.app.listen({ host: '127.0.0.1', port: 0 })
  return { server, url: `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}` }
}

/** Sends the head of a create and holds back its body. */
async function beginCreate(url: string): Promise<ClientRequest> {
  const headers = { 'x-api-key': world.credentials.apiKey, 'content-type': 'application/json', expect: '100-continue' }
  const create = request(`${url}/v2/sandboxes`, { method: 'POST', headers: { ...headers, 'content-length': CREATE.length } })
  create.flushHeaders()
  await once(create, 'continue')
  return create
}

it('finishes a create in flight, and refuses later requests with a retry hint', async () => {
  const { server, url } = await startServer()
  const create = await beginCreate(url)
  const drained = server.ctx.drain.run(60_000)

  const ready = await fetch(`${url}/ready`)
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, draining: true }])
  const health = await fetch(`${url}/health`)
  expect([health.status, await health.text()]).toEqual([503, 'Service is unavailable'])
  const late = await fetch(`${url}/v2/sandboxes`, { headers: { 'x-api-key': world.credentials.apiKey } })
  expect(late.status).toBe(503)
  expect(Object.fromEntries(late.headers)).toMatchObject({ 'should-retry': 'true', 'retry-after': '1', connection: 'close' })
  expect(await late.json()).toEqual({ code: 503, message: 'The server is stopping: send the request again' })
  expect(server.ctx.drain.inFlight).toBe(1)

  const answered = once(create, 'response') as Promise<[IncomingMessage]>
  create.end(CREATE)
  const [answer] = await answered
  expect([answer.statusCode, answer.headers.connection]).toEqual([201, 'close'])
  const { sandboxID } = (await json(answer)) as { sandboxID: string }
  expect(await drained).toBe(true)
  const row = await world.database.db.selectFrom('sandbox').select('state').where('sandbox_id', '=', sandboxID).executeTakeFirst()
  expect(row?.state).toBe('running')
})

it('finishes a create whose client has disconnected', async () => {
  const { server, url } = await startServer()
  const { length } = world.daemon.inits
  const leaving = new AbortController()
  world.daemon.answers.push('hang')
  const create = fetch(`${url}/v2/sandboxes`, {
    method: 'POST',
    body: CREATE,
    headers: { 'x-api-key': world.credentials.apiKey, 'content-type': 'application/json' },
    signal: leaving.signal,
  })
  await waitFor('the call to the daemon', () => world.daemon.answers.length === 0)
  leaving.abort()
  await expect(create).rejects.toThrow()
  await waitFor('the end of the request', () => server.ctx.drain.inFlight === 1)
  expect(await server.ctx.drain.run(60_000)).toBe(true)
  expect(world.daemon.inits.length).toBe(length + 1)
})

it('aborts requests that take longer than the deadline', async () => {
  const { server, url } = await startServer()
  const create = await beginCreate(url)
  expect(await server.ctx.drain.run(0)).toBe(false)
  create.on('error', () => undefined).destroy()
})
