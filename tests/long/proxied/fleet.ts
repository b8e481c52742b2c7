import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { pollUntil } from '../../../packages/kit/src/async/poll-until.ts'
import { RawClient } from '../../../apps/proxy/test/support/raw-client.ts'

/** Sandboxes with event services behind proxies, and the addresses that clients use. */
export interface Fleet {
  /** The first one serves requests beside the streams. */
  readonly proxyPorts: readonly number[]
  readonly sandboxIds: readonly string[]
  /** The port of every service. */
  readonly servicePort: number
  /** Loopback addresses. */
  readonly clientAddresses: readonly string[]
}

export interface IdleStream {
  readonly sandboxId: string
  readonly client: RawClient
}

/** Streams that are opened at once. */
const WIDTH = 100

/** Opens streams, spread evenly over the sandboxes and the client addresses; each has received its first event. */
export async function openStreams(fleet: Fleet, count: number): Promise<IdleStream[]> {
  const streams: IdleStream[] = []
  for (let opened = 0; opened < count; opened += WIDTH) {
    const indexes = Array.from({ length: Math.min(WIDTH, count - opened) }, (_, i) => opened + i)
    streams.push(...(await Promise.all(indexes.map((index) => openStream(fleet, index)))))
  }
  return streams
}

async function openStream({ proxyPorts, sandboxIds, servicePort, clientAddresses }: Fleet, index: number): Promise<IdleStream> {
  const sandboxId = sandboxIds[index % sandboxIds.length] ?? ''
  const round = Math.floor(index / sandboxIds.length)
  const client = new RawClient(proxyPorts[round % proxyPorts.length] ?? 0, clientAddresses[round % clientAddresses.length])
  client.send(['GET /events HTTP/1.1', `Host: ${servicePort}-${sandboxId}.localhost`])
  await client.until('data: open')
  return { sandboxId, client }
}

/** One request to the service of a sandbox, on a new connection. */
export async function askService(
  { proxyPorts: [port], servicePort }: Fleet,
  sandboxId: string,
  [method, path]: [string, string],
): Promise<string> {
  const headers = { host: `${servicePort}-${sandboxId}.localhost` }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request({ port, host: '127.0.0.1', method, path, headers, agent: false }, resolve).once('error', reject).end()
  return text(await promise)
}

/** Waits until the service of a sandbox has so many streams. */
export async function untilOpen(fleet: Fleet, sandboxId: string, count: number): Promise<void> {
  await pollUntil({ what: `${count} streams in ${sandboxId}`, timeoutMs: 60_000, everyMs: 50 }, async () =>
    (await askService(fleet, sandboxId, ['GET', '/open'])) === String(count) ? true : undefined,
  )
}
