import { readFile } from 'node:fs/promises'
import { askService, openStreams, untilOpen, type Fleet, type IdleStream } from './proxied/fleet.ts'
import { privateMib, runProxies, type Proxied } from './proxied/run-proxies.ts'
import { startServicesProcess } from './proxied/services-process.ts'

const SANDBOXES = 10
const CLIENT_ADDRESSES = 20
const REQUESTS = 200
/** What a proxy opens besides two connections for each stream. */
const SPARE_DESCRIPTORS = 500

/**
 * Holds idle streams through a proxy process with its default caps: `npm run long:idle-streams [-- count]`, default 10,000, over 10 sandboxes
 * and 20 client addresses. Each stream must receive an event that is sent while all are idle; a sandbox that ends must cut its own streams
 * and no others; after the clients have left nothing may stay open. Prints the memory of the proxy and the time of requests beside the
 * streams. The npm script raises the limit of descriptors to 65,536; where it may not, as many proxies share the streams as needed.
 */
async function main(count: number): Promise<void> {
  const hosts = Array.from({ length: SANDBOXES }, (_, i) => `127.0.2.${i + 1}`)
  const clientAddresses = Array.from({ length: CLIENT_ADDRESSES }, (_, i) => `127.0.1.${i + 1}`)
  await using services = await startServicesProcess(hosts)
  const proxies = Math.ceil((count * 2) / ((await descriptorLimit()) - SPARE_DESCRIPTORS))
  await runProxies({ hosts, proxies }, async (proxied) => {
    const { ports: proxyPorts, sandboxIds } = proxied
    await check({ proxyPorts, sandboxIds, servicePort: services.port, clientAddresses }, count, proxied)
  })
}

async function check(fleet: Fleet, count: number, { rows, pids }: Proxied): Promise<void> {
  const { sandboxIds } = fleet
  await report('before', fleet, pids)
  const before = performance.now()
  const streams = await openStreams(fleet, count)
  console.log(`${count} streams opened in ${seconds(before)}`)
  await report('with the streams', fleet, pids)

  const ticked = performance.now()
  const told = await Promise.all(sandboxIds.map((sandboxId) => askService(fleet, sandboxId, ['POST', '/tick'])))
  for (const { client } of streams) await client.until('data: tick')
  console.log(`an event reached all ${told.reduce((sum, text) => sum + Number(text), 0)} streams within ${seconds(ticked)}`)

  const [ended = ''] = sandboxIds
  const killed = performance.now()
  await rows.setState(ended, 'killing')
  await checkCut(streams, ended)
  console.log(`the streams of one sandbox were cut within ${seconds(killed)}`)

  for (const { client } of streams) client[Symbol.dispose]()
  for (const sandboxId of sandboxIds.slice(1)) await untilOpen(fleet, sandboxId, 0)
  await report('after', fleet, pids)
}

async function checkCut(streams: readonly IdleStream[], ended: string): Promise<void> {
  for (const { sandboxId, client } of streams) {
    if (sandboxId === ended && (await client.closed()) !== 'reset')
      throw new Error('a stream ended in order although its sandbox was killed')
    if (client.received.includes('\r\n0\r\n')) throw new Error('a stream got an end that its service did not send')
  }
  const lost = streams.filter(({ sandboxId, client }) => sandboxId !== ended && client.outcome !== undefined)
  if (lost.length > 0) throw new Error(`${lost.length} streams of other sandboxes were lost`)
}

/** Prints the memory of the proxies and the time of requests to a service. */
async function report(when: string, fleet: Fleet, pids: readonly number[]): Promise<void> {
  const sandboxId = fleet.sandboxIds.at(-1) ?? ''
  const times: number[] = []
  for (let i = 0; i < REQUESTS; i++) {
    const start = performance.now()
    await askService(fleet, sandboxId, ['GET', '/open'])
    times.push(performance.now() - start)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): string => `${(sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)} ms`
  const memory = await Promise.all(pids.map((pid) => privateMib(pid)))
  console.log(`${when}: proxy ${memory.join(' + ')} MiB; a request takes ${at(0.5)} (p50), ${at(0.95)} (p95)`)
}

/** Of this process and its children. */
async function descriptorLimit(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1])
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}

await main(Number(process.argv[2] ?? 10_000))
