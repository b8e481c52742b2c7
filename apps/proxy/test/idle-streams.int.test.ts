import { expect, it } from 'vitest'
import { startEventServices } from '../../../tests/long/proxied/event-services.ts'
import { askService, openStreams, untilOpen, type Fleet } from '../../../tests/long/proxied/fleet.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { startProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

const STREAMS = 300
const SANDBOXES = 3
const ADDRESSES = 5

it('holds idle streams of several clients and sandboxes, passes events on at once, and cuts only those of an ended sandbox', async () => {
  const hosts = Array.from({ length: SANDBOXES }, (_, i) => `127.0.2.${i + 1}`)
  const sandboxIds = hosts.map((_, i) => `i${i + 1}`)
  const clientAddresses = Array.from({ length: ADDRESSES }, (_, i) => `127.0.1.${i + 1}`)
  const routes = new MemoryRoutes()
  await using services = await startEventServices(hosts)
  await using proxy = await startProxy(routes)
  for (const [index, host] of hosts.entries()) {
    routes.put({ sandboxId: sandboxIds[index] ?? '', incarnation: 1, state: 'running', endpoint: { host, daemonPort: 9 } })
  }
  const fleet: Fleet = { proxyPorts: [proxy.port], sandboxIds, servicePort: services.port, clientAddresses }

  const streams = await openStreams(fleet, STREAMS)
  expect(proxy.ctx.tracker.count).toBe(STREAMS)
  for (const sandboxId of sandboxIds) expect(await askService(fleet, sandboxId, ['POST', '/tick'])).toBe(String(STREAMS / SANDBOXES))
  for (const { client } of streams) await client.until('data: tick')

  routes.remove('i1')
  for (const { client, sandboxId } of streams) {
    if (sandboxId !== 'i1') continue
    expect(await client.closed()).toBe('reset')
    // No end of the chunks: a client must not take the stream for complete.
    expect(client.received).not.toContain('\r\n0\r\n')
  }
  const others = streams.filter(({ sandboxId }) => sandboxId !== 'i1')
  expect(others.filter(({ client }) => client.outcome === undefined).length).toBe(others.length)

  for (const { client } of streams) client[Symbol.dispose]()
  for (const sandboxId of ['i2', 'i3']) await untilOpen(fleet, sandboxId, 0)
  await until('no open connection', () => proxy.ctx.tracker.count === 0 && proxy.ctx.clients.counts.connections === 0)
})
