import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { Relay } from '@sandyard/test-kit/relay'
import { Heartbeat } from '../src/servers/heartbeat.ts'
import { Placement } from '../src/servers/placement.ts'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

it('renews the lease on a new connection when its connection hangs', async () => {
  await world.startServer()
  const url = new URL(world.database.url)
  await using relay = new Relay(new URL(url))
  url.port = String(await relay.listen())
  const serverId = 7
  await using _heartbeat = await Heartbeat.start({
    databaseUrl: url.href,
    serverId,
    engineId: world.engine.id,
    version: 'test',
    builds: 1,
    host: world.engine.host,
    instanceId: randomUUID(),
    vitals: () => ({}),
    placement: new Placement(),
    isDraining: () => false,
    onMoved: () => undefined,
    log: silentLogger(),
  })
  const lease = () =>
    world.database.db.selectFrom('server').select('lease_until').where('server_id', '=', serverId).executeTakeFirstOrThrow()
  relay.hang()
  await waitFor('a new connection', () => relay.count > 1)
  const before = await lease()
  await waitFor('a renewal', async () => (await lease()).lease_until > before.lease_until)
})
