import { afterEach, beforeEach, expect, it } from 'vitest'
import { RefusedEgress } from '../src/sandboxes/network/refused-egress.ts'
import { createWorld, type Server, type World } from './support/control-plane.ts'

let world: World
let api: Server

beforeEach(async () => {
  world = await createWorld()
  api = await world.startServer()
})
afterEach(() => world[Symbol.asyncDispose]())

it('keeps what the packet rules refused in the history of its sandbox, and nothing of an unknown address', async () => {
  const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 60 } })
  const { endpoint_host: source } = await world.database.db.selectFrom('sandbox').select('endpoint_host').executeTakeFirstOrThrow()
  const refused = new RefusedEgress()
  const packets = { rule: 'always_closed', source: source ?? '', address: '169.254.169.254', protocol: 'udp', port: 53, count: 3 }
  refused.add([packets, { ...packets, source: '192.0.2.99' }])
  await refused.store(world.database)
  await refused.store(world.database)
  const rows = await world.database.db.selectFrom('sandbox_egress').selectAll().execute()
  expect(rows).toEqual([
    expect.objectContaining({
      sandbox_id: body.sandboxID,
      verdict: 'deny',
      rule: 'always_closed',
      name: null,
      address: '169.254.169.254',
      protocol: 'udp',
      port: 53,
      connections: 3,
    }),
  ])
})

it('keeps a bounded number of refusals between two writes', async () => {
  await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', timeout: 60 } })
  const { endpoint_host: source } = await world.database.db.selectFrom('sandbox').select('endpoint_host').executeTakeFirstOrThrow()
  const refused = new RefusedEgress()
  const flood = Array.from({ length: 12_000 }, (_, port) => ({
    rule: 'deny',
    source: source ?? '',
    address: '192.0.2.1',
    protocol: 'tcp',
    port,
    count: 1,
  }))
  refused.add(flood)
  await refused.store(world.database)
  const { count } = await world.database.db
    .selectFrom('sandbox_egress')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  expect(count).toBe(1000)
})
