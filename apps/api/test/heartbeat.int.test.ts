import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, it } from 'vitest'
import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { Heartbeat } from '../src/servers/heartbeat.ts'
import { createWorld, waitFor, type World } from './support/control-plane.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** A way to the database whose connections can be made to hang, as after the loss of a network path. */
class Relay implements AsyncDisposable {
  readonly #server: Server
  readonly #pairs: (readonly [Socket, Socket])[] = []

  constructor(target: URL) {
    this.#server = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname)
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
      client.pipe(upstream).pipe(client)
      this.#pairs.push([client, upstream])
    })
  }

  get count(): number {
    return this.#pairs.length
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Open connections stay open and carry nothing any more. Later connections work. */
  hang(): void {
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream)
      upstream.unpipe(client)
      client.pause()
      upstream.pause()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

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
