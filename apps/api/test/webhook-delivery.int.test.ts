import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readOutbox } from '../src/webhooks/read-outbox.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { ENV, lookupHost, rebinding, SECRET, typeOf, TYPES, webhookCallers } from './support/webhook-callers.ts'
import { verify, WebhookReceiver, type Received } from './support/webhook-receiver.ts'

let world: World
let api: Server
let receiver: WebhookReceiver
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: ENV, lookupHost, loops: true })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  receiver = await WebhookReceiver.start()
})
afterEach(async () => {
  await world.database.db.deleteFrom('webhook').execute()
  await receiver[Symbol.asyncDispose]()
})

const { createWebhook, createSandbox, get, deliveries, ended, resend } = webhookCallers(() => ({ api, receiver }))

describe('a delivery', () => {
  it('is the event, signed for receivers of both alphabets, once for each event that the webhook wants', async () => {
    const id = await createWebhook()
    const some = await createWebhook({ events: [TYPES[5]] })
    const sandboxId = await createSandbox()
    await api.call('POST', `/sandboxes/${sandboxId}/pause`)
    await api.call('POST', `/sandboxes/${sandboxId}/connect`, { body: { timeout: 60 } })
    await api.call('DELETE', `/sandboxes/${sandboxId}`)
    const [, ...rest] = await ended(id, 4)
    expect(rest).toHaveLength(3)
    await ended(some)
    const mine = receiver.received.filter(({ headers }) => headers['e2b-webhook-id'] === id)
    expect(new Set(mine.map(typeOf))).toEqual(new Set([TYPES[0], TYPES[2], TYPES[3], TYPES[5]]))
    expect(receiver.received).toHaveLength(5)
    const events = (await api.call('GET', `/events/sandboxes/${sandboxId}`)).body
    for (const received of mine) {
      expect(verify(SECRET, received)).toEqual({ standard: true, urlSafe: true })
      expect(verify(`${SECRET}.`, received)).toEqual({ standard: false, urlSafe: false })
      expect(received.headers).toMatchObject({
        'content-type': 'application/json',
        'e2b-signature-version': 'v1',
        'e2b-delivery-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
      expect(events).toContainEqual(JSON.parse(received.body))
    }
    expect(new Set(mine.map(({ headers }) => headers['e2b-delivery-id'])).size).toBe(4)
  })

  it('[GET /events/webhooks/{webhookID}/deliveries] [GET /events/webhooks/{webhookID}/stats] is listed with its attempts, in pages, and counted', async () => {
    const id = await createWebhook()
    const sandboxId = await createSandbox()
    await api.call('POST', `/sandboxes/${sandboxId}/timeout`, { body: { timeout: 900 } })
    await api.call('DELETE', `/sandboxes/${sandboxId}`)
    const all = await ended(id, 3)
    expect(all[0]).toEqual({
      deliveryId: receiver.received.find((received) => typeOf(received) === TYPES[0])?.headers['e2b-delivery-id'],
      eventId: expect.stringMatching(/^\d+$/),
      eventType: TYPES[0],
      status: 'delivered',
      createdAt: expect.stringMatching(/Z$/),
      nextAttemptAt: null,
      attempts: [{ number: 1, timestamp: expect.stringMatching(/Z$/), durationMs: expect.any(Number), httpStatus: 204, errorClass: null }],
    })
    expect(all.map(({ eventType }) => eventType)).toEqual([TYPES[0], TYPES[1], TYPES[5]])
    for (const order of ['', '&orderAsc=true']) {
      const paged: Answer['body'][] = []
      let cursor = ''
      do {
        const { body } = await get(id, `/deliveries?limit=1${order}${cursor === '' ? '' : `&cursor=${cursor}`}`)
        paged.push(...body.data)
        cursor = body.nextCursor ?? ''
      } while (cursor !== '')
      expect(paged).toEqual(order === '' ? all.toReversed() : all)
    }
    expect(await deliveries(id, `?eventType=${TYPES[1]}`)).toEqual([all[1]])
    expect(await deliveries(id, '?deliveryStatus=dead')).toEqual([])
    expect(await deliveries(id, `?start=${all[1].createdAt}&end=${all[1].createdAt}`)).toEqual([all[1]])
    expect(await deliveries(id, '?end=1000')).toEqual([])
    const { body: stats } = await get(id, '/stats')
    expect(stats.bucketSeconds).toBe(300)
    const sum = (name: string): number =>
      stats.buckets.reduce((total: number, bucket: Record<string, number>) => total + (bucket[name] ?? 0), 0)
    expect([sum('total'), sum('failed')]).toEqual([3, 0])
    expect((await get(id, '/stats?end=1000')).body.buckets).toEqual([])
  })
})

describe('a receiver that fails', () => {
  it('gets a delivery again under the same id, until it succeeds', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    receiver.behaviour = (_, response) => response.writeHead(receiver.received.length < 3 ? 500 : 200).end()
    await createSandbox()
    const [delivery] = await ended(id)
    expect(delivery.status).toBe('delivered')
    expect(delivery.attempts.map(({ httpStatus, errorClass }: Answer['body']) => [httpStatus, errorClass])).toEqual([
      [500, 'http_error'],
      [500, 'http_error'],
      [200, null],
    ])
    expect(new Set(receiver.received.map(({ headers }) => headers['e2b-delivery-id']))).toEqual(new Set([delivery.deliveryId]))
  })

  it('[GET /events/webhooks/{webhookID}/dead] [POST /events/webhooks/{webhookID}/deliveries/{deliveryID}/resend] gets no more after the last retry, and again when it is asked for', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    receiver.answer(503)
    await createSandbox()
    const [dead] = await ended(id)
    expect([dead.status, dead.attempts.length, receiver.received.length]).toEqual(['dead', 4, 4])
    expect((await get(id, '/dead')).body).toEqual({ data: [dead], nextCursor: null })
    receiver.answer(200)
    const signatureSecret = SECRET.toUpperCase()
    await api.call('PATCH', `/events/webhooks/${id}`, { body: { signatureSecret } })
    const again = await resend(id, dead.deliveryId)
    expect([again.status, again.body]).toEqual([202, { webhookId: id, deliveryId: dead.deliveryId }])
    await waitFor('the resend', async () => (await deliveries(id))[0].status === 'delivered')
    const [delivered] = await deliveries(id)
    expect(delivered.attempts.map(({ number }: Answer['body']) => number)).toEqual([1, 2, 3, 4, 5])
    expect(verify(signatureSecret, receiver.received.at(-1) as Received).standard).toBe(true)
    expect((await get(id, '/dead')).body.data).toEqual([])
    expect((await get(id, '/stats')).body.buckets.at(-1).failed).toBeGreaterThan(0)
    expect((await resend(id, world.teamId)).status).toBe(404)
    const other = await createWebhook()
    expect((await resend(other, dead.deliveryId)).status).toBe(404)
  })

  it('gets a delivery that was sent again fifty times no more', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    await createSandbox()
    const [{ deliveryId }] = await ended(id)
    await world.database.db.updateTable('webhook_delivery').set({ attempts: 49 }).where('delivery_id', '=', deliveryId).execute()
    expect((await resend(id, deliveryId)).status).toBe(202)
    await waitFor('the last attempt', async () => (await deliveries(id))[0].attempts.at(-1).number === 50)
    const { status, body } = await resend(id, deliveryId)
    expect([status, body]).toEqual([409, { code: 409, message: 'The delivery has had 50 attempts: one with 50 or more is not sent again' }])
    expect((await deliveries(id))[0].status).toBe('delivered')
  })

  it('is called no more after 410, and its webhook says so', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    receiver.answer(410)
    await createSandbox()
    const [dead] = await ended(id)
    expect([dead.status, dead.attempts.length]).toEqual(['dead', 1])
    const webhook = (await get(id, '')).body
    expect(webhook).toMatchObject({ enabled: false, disabledReason: 'The receiver answered 410' })
    expect((await resend(id, dead.deliveryId)).status).toBe(409)
    await createSandbox()
    await readOutbox(world.database)
    expect(await deliveries(id)).toHaveLength(1)
    const enabled = (await api.call('PATCH', `/events/webhooks/${id}`, { body: { enabled: true } })).body
    expect([enabled.enabled, enabled.disabledReason]).toEqual([true, undefined])
  })

  it('is called no more after 20 deliveries that were given up', async () => {
    const id = await createWebhook({ events: [TYPES[1]] })
    const sandboxId = await createSandbox()
    receiver.answer(500)
    for (let count = 0; count < 21; count += 1) await api.call('PUT', `/sandboxes/${sandboxId}/network`, { body: {} })
    await waitFor('the end of the webhook', async () => (await get(id, '')).body.enabled === false)
    expect((await get(id, '')).body.disabledReason).toBe('20 deliveries one after another were given up')
    await waitFor('the end of its deliveries', async () => (await deliveries(id, '?deliveryStatus=pending')).length === 0)
  })
})

describe('a receiver that lies', () => {
  const attempt = async (fields: object = {}): Promise<Answer['body']> => {
    const id = await createWebhook({ events: [TYPES[0]], ...fields })
    await createSandbox()
    const [delivery] = await ended(id)
    return delivery
  }

  it('that redirects to a metadata service is not followed', async () => {
    receiver.answer(302, { location: 'http://169.254.169.254/latest/meta-data' })
    const { status, attempts } = await attempt()
    expect([status, attempts[0].httpStatus, attempts[0].errorClass]).toEqual(['dead', 302, 'http_error'])
    expect(receiver.received).toHaveLength(4)
  })

  it('that sends an answer without an end is cut off, and its status counts', async () => {
    let sent = 0
    const chunk = Buffer.alloc(64 * 1024, 'x')
    receiver.behaviour = (_, response) => {
      response.writeHead(200, { 'content-length': 1024 ** 3 })
      const write = (): void => {
        if (response.destroyed) return
        sent += chunk.length
        if (response.write(chunk)) setImmediate(write)
        else response.once('drain', write)
      }
      write()
    }
    const { status } = await attempt()
    expect(status).toBe('delivered')
    await waitFor('the end of the connection', () => receiver.open === 0)
    expect(sent).toBeLessThan(64 * 1024 ** 2)
  })

  it('that sends its answer byte by byte holds nothing for long', async () => {
    receiver.behaviour = (_, response) => {
      response.writeHead(200)
      const timer = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(timer))
    }
    expect((await attempt()).status).toBe('delivered')
    await waitFor('the end of the connection', () => receiver.open === 0)
  })

  it.each([
    ['closes without an answer', (socket: { destroy(): void }) => socket.destroy()],
    ['answers no HTTP', (socket: { end(text: string): void }) => socket.end('hello\r\n\r\n')],
    [
      'answers with an endless header',
      (socket: { end(text: string): void }) => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    ],
  ])('that %s is a transport error', async (_, act) => {
    receiver.behaviour = ({ socket }) => act(socket)
    const { status, attempts } = await attempt()
    expect([status, attempts[0].httpStatus, attempts[0].errorClass]).toEqual(['dead', null, 'transport_error'])
  })

  it('that closes midway has answered', async () => {
    receiver.behaviour = (_, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('x', () => response.destroy())
    }
    expect((await attempt()).status).toBe('delivered')
  })

  it('whose name leads to an internal address later is not called', async () => {
    rebinding.addresses = ['127.0.0.1']
    const url = `http://rebinding.test:${receiver.port}/hook`
    expect((await attempt({ url })).status).toBe('delivered')
    for (const addresses of [['127.0.0.2'], ['169.254.169.254'], ['127.0.0.1', '10.0.0.1']]) {
      rebinding.addresses = ['127.0.0.1']
      receiver.received.length = 0
      const id = await createWebhook({ url, events: [TYPES[0]] })
      rebinding.addresses = addresses
      await createSandbox()
      const [delivery] = await ended(id)
      expect([delivery.status, delivery.attempts[0].errorClass]).toEqual(['dead', 'request_error'])
      const [before] = receiver.received.filter(({ headers }) => headers['e2b-webhook-id'] === id)
      expect(before).toBeUndefined()
    }
  })

  it('without an address is an error of names, and one that refuses connections of the transport', async () => {
    expect((await attempt({ url: 'http://nowhere.test/' })).attempts[0].errorClass).toBe('dns_error')
    const gone = await WebhookReceiver.start()
    const { url } = gone
    await gone[Symbol.asyncDispose]()
    expect((await attempt({ url })).attempts[0].errorClass).toBe('transport_error')
  })
})

describe('a receiver that hangs', () => {
  it('gets at most four deliveries at once, each ends at its deadline, and others do not wait for it', async () => {
    const hanging = await createWebhook({ events: [TYPES[1]] })
    receiver.behaviour = () => undefined
    const sandboxId = await createSandbox()
    for (let count = 0; count < 8; count += 1) await api.call('PUT', `/sandboxes/${sandboxId}/network`, { body: {} })
    await waitFor('four requests', () => receiver.open === 4)
    await using other = await WebhookReceiver.start()
    const id = await createWebhook({ events: [TYPES[0]], url: other.url })
    await createSandbox()
    await ended(id)
    expect(other.received).toHaveLength(1)
    await waitFor('the deadline', async () => (await deliveries(hanging)).some(({ attempts }) => attempts.length > 0))
    const failed = (await deliveries(hanging)).find(({ attempts }) => attempts.length > 0)
    expect(failed.attempts[0]).toMatchObject({ httpStatus: null, errorClass: 'timeout' })
    expect(receiver.mostOpen).toBe(4)
  })
})
