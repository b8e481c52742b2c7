import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '@sandyard/kit/errors/app-error'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { readLog, type LogLine } from './support/read-log.ts'

const { log, lines } = readLog()
let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ log })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => void lines.splice(0))

const create = (id?: string): Promise<Answer> =>
  api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' }, headers: id === undefined ? {} : { 'x-request-id': id } })
const linesOf = (id: string): LogLine[] => lines.filter(({ requestId }) => requestId === id)

/** Sends bytes and returns the whole answer. */
async function sendRaw(bytes: string): Promise<string> {
  const socket = connect((api.app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}

describe('the answer to a request', () => {
  it('has the id of the request when it is well-formed', async () => {
    expect((await create('client-1.a:b/c')).headers['x-request-id']).toBe('client-1.a:b/c')
  })

  it.each([undefined, 'a b', 'x'.repeat(129), '"'])('has an id that was made instead of %j', async (id) => {
    const { headers } = await create(id)
    expect(headers['x-request-id']).toMatch(/^[a-z0-9]{16}$/)
  })

  it.each([
    ['without credentials', 'GET', '/v2/sandboxes', null, 401],
    ['for an unknown route', 'GET', '/nowhere', undefined, 404],
    ['for an unreadable path', 'GET', '/sandboxes/%zz', undefined, 400],
    ['for an operation that is refused', 'GET', '/volumes', undefined, 403],
    ['of a health check', 'GET', '/health', null, 200],
  ] as const)('has an id %s', async (_, method, url, apiKey, status) => {
    const answer = await api.call(method, url, { headers: { 'x-request-id': 'mine' }, ...(apiKey !== undefined && { apiKey }) })
    expect([answer.status, answer.headers['x-request-id']]).toEqual([status, 'mine'])
  })

  it.each([
    ['is not HTTP', 'broken\r\n\r\n', /^HTTP\/1\.1 400 .*\r\nx-request-id: [a-z0-9]{16}\r\n/s],
    [
      'expects what is not known',
      'GET / HTTP/1.1\r\nhost: x\r\nexpect: y\r\nx-request-id: mine\r\n\r\n',
      /^HTTP\/1\.1 417 .*\r\nx-request-id: mine\r\n/s,
    ],
    ['names no host', 'GET / HTTP/1.1\r\nx-request-id: mine\r\nconnection: close\r\n\r\n', /^HTTP\/1\.1 400 .*\r\nx-request-id: mine\r\n/s],
  ])('has an id when the request %s', async (_, bytes, answer) => {
    expect(await sendRaw(bytes)).toMatch(answer)
  })

  it('may be read, and the id be sent, by a page of any origin', async () => {
    const asks = {
      origin: 'https://a.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-request-id,traceparent',
    }
    const preflight = await api.app.inject({ method: 'OPTIONS', url: '/v2/sandboxes', headers: asks })
    expect(preflight.headers['access-control-allow-headers']).toMatch(/X-Request-ID, traceparent/)
    const answer = await api.call('GET', '/v2/sandboxes', { headers: { origin: 'https://a.test' } })
    expect(answer.headers['access-control-expose-headers']).toMatch(/X-Request-ID/)
  })
})

describe('the lines of the log', () => {
  it('have the id of their request, in every part', async () => {
    await Promise.all(['one', 'two', 'three'].map(create))
    for (const id of ['one', 'two', 'three']) {
      await waitFor('the line of the request', () => linesOf(id).some(({ msg }) => msg === 'request'))
      expect(linesOf(id).map(({ part, msg }) => [part, msg])).toEqual(
        expect.arrayContaining([
          ['api.http', 'request'],
          ['api.audit', 'operation recorded'],
          ['api.sandboxes', 'sandbox started'],
        ]),
      )
    }
    expect(lines.filter(({ part, requestId }) => part !== 'api.database' && requestId === undefined)).toEqual([])
  })

  it('have the id when the request fails, and in the work behind the answer', async () => {
    api.runtime.faults.failBefore('create', new AppError('internal', 'no room'))
    expect((await create('fails')).status).toBe(500)
    expect(linesOf('fails').map(({ msg }) => msg)).toContain('sandbox start failed')
    const { sandboxID } = (await create()).body
    api.runtime.faults.failBefore('remove', new AppError('internal', 'stuck'))
    await api.call('DELETE', `/sandboxes/${sandboxID}`, { headers: { 'x-request-id': 'kills' } })
    await waitFor('the failed removal', () => linesOf('kills').some(({ msg }) => msg === 'sandbox could not be repaired yet'))
  })

  it('have the id of a request whose body is read by a thread', async () => {
    const body = { templateID: 'base', metadata: { a: 'x'.repeat(300 * 1024) } }
    const { status } = await api.call('POST', '/v2/sandboxes', { body, headers: { 'x-request-id': 'large' } })
    expect(status).toBe(400)
    await waitFor('the line of the request', () => linesOf('large').some(({ msg }) => msg === 'request'))
  })
})

describe('the id of a request', () => {
  it('is in the events of its changes, and not in those of the server', async () => {
    const { sandboxID } = (await create('makes')).body
    await api.call('POST', `/sandboxes/${sandboxID}/timeout`, { body: { timeout: 900 }, headers: { 'x-request-id': 'extends' } })
    await api.call('POST', `/sandboxes/${sandboxID}/pause`, { headers: { 'x-request-id': 'pauses' } })
    const rows = await world.database.db
      .selectFrom('event')
      .select(['kind', 'request_id'])
      .where('subject', '=', sandboxID)
      .orderBy('event_id')
      .execute()
    expect(rows.map(({ kind, request_id }) => [kind, request_id])).toEqual([
      ['sandbox.starting', 'makes'],
      ['sandbox.running', 'makes'],
      ['sandbox.timeout_changed', 'extends'],
      ['sandbox.pausing', 'pauses'],
      ['sandbox.paused', 'pauses'],
    ])
  })

  it('is sent to the daemon of the sandbox', async () => {
    await create('to-daemon')
    expect(world.daemon.requestIds).toContain('to-daemon')
  })
})
