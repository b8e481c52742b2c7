import { once } from 'node:events'
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addCaller, type Caller } from './support/build-callers.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'

const MIB = 1024 ** 2
const LARGEST = 16 * MIB
/** Of one team. */
const MOST = (64 * MIB) / LARGEST

let world: World
let api: Server
let url: URL
let large: Caller
let small: Caller
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer()
  url = new URL(await api.app.listen({ host: '127.0.0.1', port: 0 }))
  ;[large, small] = [await addCaller(world, api, 'Large'), await addCaller(world, api, 'Small')]
})
afterAll(() => world[Symbol.asyncDispose]())

/** The head of a create, with whose length or encoding its body is announced. */
function announce({ apiKey }: Caller, body: Readonly<Record<string, string | number>>, agent?: Agent): ClientRequest {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', ...body }
  const sending = request(new URL('/v2/sandboxes', url), { method: 'POST', headers, ...(agent && { agent }) })
  sending.on('error', () => undefined)
  sending.flushHeaders()
  return sending
}

async function answerOf(
  sending: ClientRequest,
): Promise<{ readonly status: number | undefined; readonly retry: unknown; readonly body: string }> {
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, retry: answer.headers['retry-after'], body: await text(answer) }
}

describe.each([
  ['a declared length', { 'content-length': LARGEST }],
  ['chunks', { 'transfer-encoding': 'chunked' }],
])('bodies in memory, with %s', (_, announced) => {
  it('are bounded for each team, and freed with their requests', async () => {
    const arriving = Array.from({ length: MOST + 1 }, () => announce(large, announced))
    try {
      const refused = { status: 429, retry: '1', body: expect.stringContaining('Too many large requests are in flight') }
      expect(await Promise.race(arriving.map(answerOf))).toEqual(refused)
      expect((await small.withKey('POST', '/v2/sandboxes', { templateID: 'nope' })).status, 'another team').toBe(404)
    } finally {
      for (const each of arriving) each.destroy()
    }
    await waitFor('the release', async () => {
      const { status } = await answerOf(announce(large, { 'content-length': MIB }).end(Buffer.alloc(MIB, ' ')))
      return status === 400
    })
  })
})

it('are freed with the answers on one connection', async () => {
  using agent = { connections: new Agent({ keepAlive: true, maxSockets: 1 }), [Symbol.dispose]: () => agent.connections.destroy() }
  const counted = { 'transfer-encoding': 'chunked' }
  for (let sent = 0; sent < 2 * MOST; sent += 1) {
    expect((await answerOf(announce(large, counted, agent.connections).end('{"templateID":"nope"}'))).status).toBe(404)
  }
})
