import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBench, type Bench } from './support/bench.ts'

const NO_ONE = '00000000-0000-4000-8000-000000000000'

let bench: Bench
let webhookId: string
beforeAll(async () => {
  bench = await createBench({ env: { SANDYARD_SECRETS_KEY: 'ab'.repeat(32) }, lookupHost: async () => ['8.8.8.8'] })
  const none = await bench.sandyard(['webhooks', 'list'])
  expect(none).toEqual({ code: 0, stdout: '', stderr: 'There are no webhooks.\n' })
  const body = { name: 'mine', url: 'https://public.test/', events: ['sandbox.lifecycle.killed'], signatureSecret: 's'.repeat(32) }
  webhookId = (await bench.server.call('POST', '/events/webhooks', { body })).body.id
  const values = Array.from({ length: 130 }, (_, index) => ({
    webhook_id: webhookId,
    event_id: index,
    event_type: 'sandbox.lifecycle.killed',
    body: '{}',
    status: index < 120 ? ('dead' as const) : ('delivered' as const),
    created_at: new Date(Date.now() - index * 1000),
  }))
  await bench.world.database.db.insertInto('webhook_delivery').values(values).execute()
})
afterAll(() => bench[Symbol.asyncDispose]())

const dead = async (): Promise<string[]> => {
  const { stdout } = await bench.sandyard(['webhooks', 'dead', webhookId, '--json'])
  return (JSON.parse(stdout) as { deliveryId: string }[]).map(({ deliveryId }) => deliveryId)
}

describe('sandyard webhooks', () => {
  it('lists webhooks and what was given up', async () => {
    const { code, stdout } = await bench.sandyard(['webhooks', 'list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ID +NAME +STATE +URL +CREATED +REASON *\n/)
    expect(stdout).toContain(`${webhookId}  mine  enabled  https://public.test/`)
    expect(await dead()).toHaveLength(120)
    expect((await bench.sandyard(['webhooks', 'dead', webhookId])).stdout).toMatch(/^DELIVERY +EVENT +HAPPENED +ATTEMPTS +LAST ANSWER *\n/)
    expect((await bench.sandyard(['webhooks', 'dead', NO_ONE])).code).toBe(3)
  })

  it('sends some again, and all', async () => {
    const [first = '', second = ''] = await dead()
    const some = await bench.sandyard(['webhooks', 'resend', webhookId, first, second])
    expect(some).toEqual({ code: 0, stdout: `${first}\n${second}\n`, stderr: 'The server sends 2 again.\n' })
    expect(await dead()).toHaveLength(118)
    expect((await bench.sandyard(['webhooks', 'resend', webhookId, '--dead'])).stderr).toBe('The server sends 118 again.\n')
    expect(await dead()).toEqual([])
    expect((await bench.sandyard(['webhooks', 'resend', webhookId, '--dead'])).stderr).toBe('No delivery was given up.\n')
    expect((await bench.sandyard(['webhooks', 'resend', webhookId, NO_ONE])).code).toBe(3)
    expect((await bench.sandyard(['webhooks', 'resend', webhookId])).code).toBe(2)
    expect((await bench.sandyard(['webhooks', 'resend', webhookId, first, '--dead'])).code).toBe(2)
  })

  it('leaves those that have had their attempts', async () => {
    const { db } = bench.world.database
    const [worn, other] = await db
      .updateTable('webhook_delivery')
      .set({ status: 'dead', attempts: 50 })
      .where('event_id', '<', 2)
      .returning('delivery_id')
      .execute()
    await db
      .updateTable('webhook_delivery')
      .set({ attempts: 1 })
      .where('delivery_id', '=', other?.delivery_id ?? '')
      .execute()
    const attempt = {
      delivery_id: worn?.delivery_id ?? '',
      webhook_id: webhookId,
      number: 50,
      at: new Date(),
      ms: 1,
      http_status: 500,
      error_class: 'http_error' as const,
    }
    await db.insertInto('webhook_attempt').values(attempt).execute()
    expect((await bench.sandyard(['webhooks', 'resend', webhookId, '--dead'])).stderr).toBe(
      'The server sends 1 again.\n1 had 50 attempts or more: they are not sent again.\n',
    )
    expect(await dead()).toEqual([worn?.delivery_id])
    const refused = await bench.sandyard(['webhooks', 'resend', webhookId, worn?.delivery_id ?? ''])
    expect(refused.stderr).toContain('The delivery has had 50 attempts: one with 50 or more is not sent again.')
  })
})
