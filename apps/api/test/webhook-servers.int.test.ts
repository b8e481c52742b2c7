import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { storeHostAddresses } from '@sandyard/db/host-addresses'
import { Secret } from '@sandyard/kit/config/secret'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { capPending, forgetDeliveries } from '../src/webhooks/forget-deliveries.ts'
import { resealWebhooks } from '../src/webhooks/reseal-webhooks.ts'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { ENV, lookupHost, SECRET, TYPES, webhookCallers } from './support/webhook-callers.ts'
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

const { createWebhook, createSandbox, deliveries, ended, resend } = webhookCallers(() => ({ api, receiver }))

describe('several servers', () => {
  it('deliver each event once while the receiver succeeds', async () => {
    await using second = await world.startServer({ env: ENV, lookupHost, loops: true })
    const id = await createWebhook({ events: [TYPES[1]] })
    const sandboxId = await createSandbox()
    for (let count = 0; count < 30; count += 1) {
      await [api, second][count % 2]?.call('PUT', `/sandboxes/${sandboxId}/network`, { body: {} })
    }
    const all: Answer['body'][] = []
    await waitFor('all deliveries', async () => {
      all.splice(0, all.length, ...(await deliveries(id, '?limit=100&deliveryStatus=delivered')))
      return all.length === 30
    })
    expect(new Set(all.map(({ eventId }) => eventId)).size).toBe(30)
    expect(receiver.received).toHaveLength(30)
  })

  it('send again, under the same id, what a server that died was sending', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    receiver.behaviour = (_, response) => {
      // The first answer is lost: its server holds the delivery, and dies.
      if (receiver.received.length > 1) response.writeHead(200).end()
    }
    await createSandbox()
    await waitFor('the first request', () => receiver.received.length === 1)
    await sql`update webhook_delivery set lease_until = clock_timestamp() where webhook_id = ${id}`.execute(world.database.db)
    const [delivery] = await ended(id)
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ number: 2 }] })
    expect(receiver.received.map(({ headers }) => headers['e2b-delivery-id'])).toEqual([delivery.deliveryId, delivery.deliveryId])
  })

  it('finish what one that stops was sending', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    receiver.behaviour = () => undefined
    await createSandbox()
    await waitFor('the request', () => receiver.open === 1)
    await using _second = await world.startServer({ env: ENV, lookupHost, loops: true })
    await api[Symbol.asyncDispose]()
    receiver.answer(200)
    api = await world.startServer({ env: ENV, lookupHost, loops: true })
    const [delivery] = await ended(id)
    expect(delivery.attempts[0].errorClass).toBe('canceled')
    expect([delivery.status, delivery.attempts.at(-1).httpStatus]).toEqual(['delivered', 200])
  })
})

describe('a rotation of the key', () => {
  it('encrypts signing secrets again, and needs the former key only until then', async () => {
    const { db } = world.database
    const id = await createWebhook({ events: [TYPES[0]] })
    const read = () => db.selectFrom('webhook').select(['key_id', 'sealed_secret']).where('webhook_id', '=', id).executeTakeFirstOrThrow()
    const before = await read()
    const [newer, former] = [new Secret('cd'.repeat(32)), new Secret(ENV.SANDYARD_SECRETS_KEY)]
    await resealWebhooks(world.database, new KeyRing([former]))
    expect(await read()).toEqual(before)
    const both = new KeyRing([newer, former])
    await Promise.all([resealWebhooks(world.database, both), resealWebhooks(world.database, both)])
    expect((await read()).key_id).toBe(both.keyId)
    await createSandbox()
    const [delivery] = await ended(id)
    expect([delivery.status, delivery.attempts[0].errorClass]).toEqual(['dead', 'signature_error'])
    await api[Symbol.asyncDispose]()
    api = await world.startServer({ env: { ...ENV, SANDYARD_SECRETS_KEY: newer.reveal() }, lookupHost, loops: true })
    await resend(id, delivery.deliveryId)
    await waitFor('the resend', async () => (await deliveries(id))[0].status === 'delivered')
    expect(verify(SECRET, receiver.received.at(-1) as Received).standard).toBe(true)
    await api[Symbol.asyncDispose]()
    api = await world.startServer({ env: ENV, lookupHost, loops: true })
  })
})

describe('the outbox', () => {
  it('has nothing for a webhook from before it, nor of sandboxes that never ran', async () => {
    const before = await createSandbox()
    const id = await createWebhook()
    world.daemon.answers.push(401)
    await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    await api.call('DELETE', `/sandboxes/${before}`)
    const all = await ended(id)
    expect(all.map(({ eventType }) => eventType)).toEqual([TYPES[5]])
  })

  it('gives up what waits when the webhook is disabled', async () => {
    const id = await createWebhook({ events: [TYPES[0]] })
    const soon = new Date(Date.now() + 3_600_000)
    const waiting = { webhook_id: id, event_id: 1, event_type: TYPES[0] ?? '', body: '{}', due_at: soon, created_at: new Date() }
    await world.database.db.insertInto('webhook_delivery').values(waiting).execute()
    expect((await deliveries(id))[0]).toMatchObject({ status: 'pending', nextAttemptAt: soon.toISOString() })
    await api.call('PATCH', `/events/webhooks/${id}`, { body: { enabled: false } })
    expect((await deliveries(id))[0]).toMatchObject({ status: 'dead', attempts: [], nextAttemptAt: null })
  })

  it('keeps ended deliveries as long as the setting says, and no more than a cap of those that wait', async () => {
    const { db } = world.database
    const id = await createWebhook()
    const at = new Date(Date.now() - 8 * 24 * 3_600_000)
    const rows = ['delivered', 'dead', 'pending', 'pending', 'pending'] as const
    const values = rows.map((status, index) => {
      const due_at = new Date(Date.now() + 3_600_000)
      const created_at = new Date(at.getTime() + index * 1000)
      return { webhook_id: id, event_id: index, event_type: TYPES[0] ?? '', body: '{}', status, due_at, created_at }
    })
    await db.insertInto('webhook_delivery').values(values).execute()
    await forgetDeliveries(db, 7 * 24 * 3_600_000)
    expect((await deliveries(id)).map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])
    await capPending(db, 2)
    expect((await deliveries(id)).map(({ status }) => status)).toEqual(['pending', 'pending', 'dead'])
  })
})

it('refuses the addresses of the host that the gateway has told, and those that the operator denies', async () => {
  await storeHostAddresses(world.database.db, ['198.41.0.4', '2a01::7'])
  const server = await world.startServer({ env: { ...ENV, SANDYARD_WEBHOOK_DENY: '198.41.0.8/30' }, lookupHost, loops: true })
  const create = async (host: string): Promise<number> => {
    const body = { name: 'mine', url: `http://${host}/hook`, events: TYPES, signatureSecret: SECRET, enabled: false }
    return (await server.call('POST', '/events/webhooks', { body })).status
  }
  expect(await Promise.all(['198.41.0.4', '[2a01::7]', '198.41.0.9'].map(create))).toEqual([400, 400, 400])
  expect(await Promise.all(['198.41.0.5', '[2a01::8]', '198.41.0.12'].map(create))).toEqual([201, 201, 201])
})
