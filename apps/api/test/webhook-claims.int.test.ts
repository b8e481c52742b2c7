import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { cancelAbandoned, cancelDeliveries } from '../src/webhooks/cancel-deliveries.ts'
import { claimDeliveries } from '../src/webhooks/claim-deliveries.ts'
import { capPending } from '../src/webhooks/forget-deliveries.ts'
import { readOutbox } from '../src/webhooks/read-outbox.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'
import { seedParty, type Party } from './support/templates.ts'
import { ENV, lookupHost, SECRET, TYPES } from './support/webhook-callers.ts'

let world: World
let api: Server
let other: Party
let events = 0

// Without loops: nothing is read or sent but by the test.
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: ENV, lookupHost })
  other = await seedParty(world, 'Other')
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  await db().deleteFrom('webhook').execute()
})

const db = () => world.database.db

async function createWebhook(apiKey = world.credentials.apiKey): Promise<string> {
  const body = { name: 'mine', url: 'http://127.0.0.1:9/hook', events: TYPES, signatureSecret: SECRET }
  const { status, body: made } = await api.call('POST', '/events/webhooks', { body, apiKey })
  expect(status).toBe(201)
  return made.id
}

/** Deliveries that are due, the first one the longest. */
async function addDue(webhookId: string, count: number, agoMs = 60_000): Promise<void> {
  const values = Array.from({ length: count }, (_, index) => {
    const at = new Date(Date.now() - agoMs + index)
    return { webhook_id: webhookId, event_id: (events += 1), event_type: TYPES[0] ?? '', body: '{}', created_at: at, due_at: at }
  })
  await db().insertInto('webhook_delivery').values(values).execute()
}

const statuses = async (webhookId: string): Promise<string[]> => {
  const rows = await db().selectFrom('webhook_delivery').select('status').where('webhook_id', '=', webhookId).execute()
  return rows.map(({ status }) => status).toSorted()
}

/** Runs while another server has locked the oldest delivery of a webhook. */
async function whileLocked(webhookId: string, work: () => Promise<unknown>): Promise<void> {
  await world.database.transaction(async (tx) => {
    await tx
      .selectFrom('webhook_delivery')
      .select('delivery_id')
      .where('webhook_id', '=', webhookId)
      .orderBy('due_at')
      .limit(1)
      .forUpdate()
      .execute()
    await work()
  })
}

it('the first event after the first webhook of an installation is delivered, although nothing was read before', async () => {
  await db().deleteFrom('webhook_reader').execute()
  const before = (await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).body.sandboxID
  const id = await createWebhook()
  await api.call('DELETE', `/sandboxes/${before}`)
  await readOutbox(world.database)
  const rows = await db().selectFrom('webhook_delivery').select('event_type').where('webhook_id', '=', id).execute()
  expect(rows.map((row) => row.event_type)).toEqual([TYPES[5]])
})

it('the webhooks of a banned team are not called, and those of others are', async () => {
  const [banned, served] = [await createWebhook(), await createWebhook(other.apiKey)]
  await addDue(banned, 1)
  await addDue(served, 1)
  const ban = (is_banned: boolean) => db().updateTable('team').set({ is_banned }).where('id', '=', world.teamId).execute()
  await ban(true)
  try {
    expect((await claimDeliveries(world.database, 10)).map(({ webhookId }) => webhookId)).toEqual([served])
  } finally {
    await ban(false)
  }
  expect((await claimDeliveries(world.database, 10)).map(({ webhookId }) => webhookId)).toEqual([banned])
})

describe('a claim', () => {
  it('is fair: a team with nothing in flight does not wait behind the deliveries of another, however long those are due', async () => {
    for (let made = 0; made < 3; made += 1) await addDue(await createWebhook(), 10)
    const fair = await createWebhook(other.apiKey)
    await addDue(fair, 2, 1000)
    expect((await claimDeliveries(world.database, 6)).filter(({ webhookId }) => webhookId === fair)).toHaveLength(2)
    // Four are in flight, those of the other team too.
    await addDue(fair, 1, 500)
    expect((await claimDeliveries(world.database, 1)).map(({ webhookId }) => webhookId)).toEqual([fair])
  })

  it('takes at most four deliveries of a webhook and sixteen of a team', async () => {
    for (let made = 0; made < 5; made += 1) await addDue(await createWebhook(), 6)
    const claimed = await claimDeliveries(world.database, 64)
    expect(claimed).toHaveLength(16)
    const counts = Map.groupBy(claimed, ({ webhookId }) => webhookId)
    expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBe(4)
    expect(await claimDeliveries(world.database, 64)).toEqual([])
  })

  it('leaves a delivery that another server has locked, and does not wait for it', async () => {
    const id = await createWebhook()
    await addDue(id, 2)
    await whileLocked(id, async () => expect(await claimDeliveries(world.database, 10)).toHaveLength(1))
    expect(await claimDeliveries(world.database, 10)).toHaveLength(1)
  })
})

describe('giving deliveries up', () => {
  it.each([
    ['of a webhook', (id: string) => cancelDeliveries(db(), id)],
    ['of a disabled webhook', () => cancelAbandoned(db())],
    ['over the cap', () => capPending(db(), 0)],
  ])('%s leaves one that another server has locked, and does not wait for it', async (_what, giveUp) => {
    const id = await createWebhook()
    await addDue(id, 3)
    await db().updateTable('webhook').set({ enabled: false }).where('webhook_id', '=', id).execute()
    await whileLocked(id, () => giveUp(id))
    expect(await statuses(id)).toEqual(['dead', 'dead', 'pending'])
    await giveUp(id)
    expect(await statuses(id)).toEqual(['dead', 'dead', 'dead'])
  })
})
