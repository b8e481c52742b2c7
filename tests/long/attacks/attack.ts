import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A running server, with a sandbox in which `hostile-service.ts` listens on `port`. */
export interface Target {
  readonly apiUrl: string
  readonly proxyUrl: string
  readonly apiKey: string
  readonly sandboxId: string
  /** The token of the sandbox's daemon. */
  readonly token: string
  readonly port: number
  /** The token of the user, for routes without an API key. Without it an attack skips these routes. */
  readonly accessToken?: string
  /** The part of its full count that an attack sends; default 1. */
  readonly scale?: number
}

/** One bounded attack on the caller's own server. */
export interface Attack {
  readonly name: string
  /** Resolves with figures, also when the server refuses everything; rejects only when the attack cannot be run. */
  run(target: Target, signal: AbortSignal): Promise<AttackResult>
}

export interface AttackResult {
  readonly sent: string
  readonly observed: string
  /** Wrong results, such as an answer with status 500. */
  readonly faults?: readonly string[]
}

/** A connection to the proxy with the bytes that it has received. */
export interface Line {
  readonly socket: Socket
  /** Latin-1; at most `KEPT` characters from the beginning. */
  received: string
  bytes: number
  isClosed: boolean
}

const KEPT = 2 * 1024 * 1024

/** Connects to the proxy. A refused connection is returned as a closed line. */
export async function dial({ proxyUrl }: Target, signal: AbortSignal): Promise<Line> {
  const { hostname, port } = new URL(proxyUrl)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, signal })
  const line: Line = { socket, received: '', bytes: 0, isClosed: false }
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    line.bytes += chunk.length
    if (line.received.length < KEPT) line.received += chunk.toString('latin1')
  })
  await new Promise((resolve) => {
    socket.once('connect', resolve)
    socket.once('close', resolve)
  })
  // The server has ended the connection, so nothing more is sent.
  socket.once('end', () => socket.destroy())
  socket.once('close', () => (line.isClosed = true))
  line.isClosed = socket.destroyed
  return line
}

export async function dialMany(target: Target, count: number, signal: AbortSignal): Promise<Line[]> {
  return await Promise.all(Array.from({ length: count }, () => dial(target, signal)))
}

/** The head of a request to the hostile service; `lines` are more headers. */
export function head(target: Target, request: string, lines: readonly string[] = []): string {
  const { sandboxId, port } = target
  return [`${request} HTTP/1.1`, 'Host: localhost', `E2b-Sandbox-Id: ${sandboxId}`, `E2b-Sandbox-Port: ${port}`, ...lines, '', ''].join(
    '\r\n',
  )
}

/** Reads the figures of the hostile service since the last call. */
export async function stats(target: Target, signal: AbortSignal): Promise<{ readonly bytes: number; readonly atOnce: number }> {
  const headers = { 'E2b-Sandbox-Id': target.sandboxId, 'E2b-Sandbox-Port': String(target.port) }
  const answer = await fetch(`${target.proxyUrl}/stats`, { headers, signal })
  return (await answer.json()) as { bytes: number; atOnce: number }
}

/** Waits until `isSo`, for `timeoutMs` at most. */
export async function waitUntil(isSo: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!isSo() && performance.now() < deadline) await delay(20, undefined, { signal })
}

/** Counts the lines by the status of their last answer: `200: 3, none: 2`. */
export function countStatuses(lines: readonly Line[]): string {
  return countEach(lines.map(({ received }) => [...received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].at(-1)?.[1] ?? 'none'))
}

/** Counts equal values, in the order of their first occurrence: `200: 3, none: 2`. */
export function countEach(values: Iterable<string>): string {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => `${value}: ${count}`).join(', ')
}

/** The part of `count` that this run sends, at least 1. */
export function scaled({ scale = 1 }: Target, count: number): number {
  return Math.max(1, Math.round(count * scale))
}

/** Runs `work` for 0 to `count` - 1, `width` at a time. After the signal it starts no more work, and returns the results so far. */
export async function runMany<T>(
  { count, width }: { readonly count: number; readonly width: number },
  work: (index: number) => Promise<T>,
  signal: AbortSignal,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count && !signal.aborted) results.push(await work(next++))
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane))
  return results
}

export function mib(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

/** Directs an attack on the proxy that needs no sandbox at the control plane. */
export function onApi(attack: Attack): Attack {
  return {
    name: `${attack.name}, control plane`,
    run: (target, signal) => attack.run({ ...target, proxyUrl: target.apiUrl }, signal),
  }
}
