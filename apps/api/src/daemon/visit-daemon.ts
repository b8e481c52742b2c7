import { request, type Agent, type IncomingMessage } from 'node:http'
import { daemonHeaders, daemonUrl, type Daemon } from './daemon.ts'
import { DaemonCallError } from './daemon-call-error.ts'
import { oneConnection } from './kept-connections.ts'

/** The daemon runs in an untrusted sandbox, so its answer is capped. */
const MAX_ANSWER_BYTES = 1024 ** 2

/** Reads a route of the daemon as JSON. */
export type ReadJson = (path: string) => Promise<unknown>

export interface VisitOptions {
  readonly signal: AbortSignal
  /** Keeps the connection for the next visit. Without it, the connection is closed at the end: none stays open to a sandbox that ends. */
  readonly kept?: Agent | undefined
}

/**
 * Reads several routes of a daemon over one connection.
 *
 * @throws the error of `work`; reads throw DaemonCallError, the error of the connection or the abort reason
 */
export async function visitDaemon<T>(daemon: Daemon, { signal, kept }: VisitOptions, work: (read: ReadJson) => Promise<T>): Promise<T> {
  const agent = kept ?? oneConnection()
  try {
    return await work((path) => readJson(daemon, path, { agent, signal }))
  } finally {
    if (kept === undefined) agent.destroy()
  }
}

interface ReadOptions {
  readonly agent: Agent
  readonly signal: AbortSignal
}

async function readJson(daemon: Daemon, path: string, { agent, signal }: ReadOptions): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const call = request(`${daemonUrl(daemon)}${path}`, { agent, headers: daemonHeaders(daemon), signal })
  call.on('response', resolve)
  call.on('error', reject)
  call.end()
  const response = await promise
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new DaemonCallError(`${response.statusCode}`, 'the answer is too large')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (response.statusCode !== 200) throw new DaemonCallError(`${response.statusCode}`, text.slice(0, 200))
  return JSON.parse(text) as unknown
}
