import { afterAll, beforeAll, expect, it } from 'vitest'
import { readWebhooks } from '../src/metrics/read-webhooks.ts'
import { createWorld, waitFor, type Server, type World } from './support/control-plane.ts'
import { ENV, lookupHost, TYPES, webhookCallers } from './support/webhook-callers.ts'
import { WebhookReceiver } from './support/webhook-receiver.ts'

let world: World
let api: Server
let receiver: WebhookReceiver

beforeAll(async () => {
  world = await createWorld()
  receiver = await WebhookReceiver.start()
  // Without loops nothing is sent.
  api = await world.startServer({ env: ENV, lookupHost })
})
afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const { createWebhook, createSandbox, ended } = webhookCallers(() => ({ api, receiver }))
const db = () => world.database.db
const MINUTE_MS = 60_000
let events = 0

const add = (webhookId: string, change: { status?: 'pending' | 'dead'; dueMs?: number; leaseMs?: number } = {}) => {
  const { status = 'pending', dueMs = 0, leaseMs } = change
  const at = new Date()
  const row = { webhook_id: webhookId, event_id: (events += 1), event_type: TYPES[0] ?? '', body: '{}', status, created_at: at }
  const lease = leaseMs === undefined ? {} : { lease_until: new Date(Date.now() + leaseMs) }
  return db()
    .insertInto('webhook_delivery')
    .values({ ...row, due_at: new Date(Date.now() + dueMs), ...lease })
    .execute()
}

it('the metrics count deliveries, and tell how long one has waited for a server and not for its receiver', async () => {
  expect(await readWebhooks(db())).toEqual({ pending: 0, dead: 0, lagSeconds: 0 })
  const id = await createWebhook()
  await add(id, { status: 'dead', dueMs: -10 * MINUTE_MS })
  await add(id, { dueMs: 10 * MINUTE_MS })
  expect(await readWebhooks(db())).toEqual({ pending: 1, dead: 1, lagSeconds: 0 })
  await add(id, { dueMs: -5 * MINUTE_MS })
  const late = await readWebhooks(db())
  expect(late.pending).toBe(2)
  expect(late.lagSeconds).toBeGreaterThanOrEqual(300)

  const other = await createWebhook({ name: 'other' })
  await add(other, { leaseMs: MINUTE_MS })
  expect((await readWebhooks(db())).lagSeconds).toBe(0)
  await db()
    .updateTable('webhook_delivery')
    .set({ lease_until: new Date(0) })
    .where('webhook_id', '=', other)
    .execute()
  expect((await readWebhooks(db())).lagSeconds).toBeGreaterThanOrEqual(300)
  await api.call('PATCH', `/events/webhooks/${id}`, { body: { enabled: false } })
  expect((await readWebhooks(db())).lagSeconds).toBeLessThan(300)
  await db().deleteFrom('webhook').execute()
})

it('the metrics count attempts by their results', async () => {
  api = await world.startServer({ env: ENV, lookupHost, loops: true })
  const read = async (): Promise<Record<string, number>> => {
    const { values } = await api.ctx.metrics.webhookAttempts.get()
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.result), value]))
  }
  expect(await read()).toEqual({ delivered: 0, failed: 0, dead: 0 })
  const id = await createWebhook({ events: [TYPES[0]] })
  const statuses = [500, 200, 410]
  receiver.behaviour = (_, response) => response.writeHead(statuses.shift() ?? 204).end()
  await createSandbox()
  await ended(id)
  await createSandbox()
  await ended(id, 2)
  await waitFor('the counts', async () => (await read())['dead'] === 1)
  expect(await read()).toEqual({ delivered: 1, failed: 1, dead: 1 })
})
