import { request, type Agent, type IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { daemonHeaders, daemonUrl, type Daemon } from './daemon.ts'
import { DaemonCallError } from './daemon-call-error.ts'

/** Cap for bodies that are read whole. */
const MAX_TEXT_BYTES = 1024 ** 2

interface NewContent {
  readonly content: Readable
  /** Gets the file; default: root. */
  readonly owner?: string
}

/**
 * Writes a file (envd.md 5.7).
 *
 * @throws DaemonCallError; the error of `content`; the abort reason
 */
export async function putFile(daemon: Daemon, path: string, { content, owner = 'root' }: NewContent, signal: AbortSignal): Promise<void> {
  const call = open(daemon, path, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, owner, signal })
  // An answer before the end of the content is a refusal.
  const answered = answerOf(call)
  answered.catch(() => undefined)
  const sent = pipeline(content, call, { signal })
  try {
    const { status, body } = await Promise.race([answered, sent.then(() => answered)])
    if (status !== 200) throw refused(status, body)
  } catch (err) {
    signal.throwIfAborted()
    throw err
  } finally {
    content.destroy()
    await sent.catch(() => undefined)
  }
}

/**
 * Reads a small file as text (envd.md 5.6); undefined if it does not exist.
 *
 * @throws DaemonCallError; the abort reason
 */
export async function readTextFile(daemon: Daemon, path: string, signal: AbortSignal): Promise<string | undefined> {
  const call = open(daemon, path, { method: 'GET', headers: {}, signal })
  call.end()
  const { status, body } = await answerOf(call).catch((err: unknown) => {
    signal.throwIfAborted()
    throw err
  })
  if (status === 404) return undefined
  if (status !== 200) throw refused(status, body)
  return body
}

/**
 * Reads a small file as text over a connection of the agent; undefined if it is refused, as it is when it does not exist.
 *
 * @throws DaemonCallError for a large one; the abort reason; the error of the connection
 */
export async function readSmallFile(
  daemon: Daemon,
  path: string,
  { agent, signal }: { readonly agent: Agent; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const call = open(daemon, path, { method: 'GET', headers: { 'accept-encoding': 'identity' }, agent, signal })
  call.end()
  const { status, body } = await answerOf(call)
  return status === 200 ? body : undefined
}

/**
 * Opens a file for reading as root (envd.md 5.6). The caller reads the answer, or destroys it.
 *
 * @throws DaemonCallError; the abort reason
 */
export async function getFile(daemon: Daemon, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  const call = open(daemon, path, { method: 'GET', headers: { 'accept-encoding': 'identity' }, signal })
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  call.on('response', resolve)
  call.on('error', reject)
  call.end()
  const response = await promise
  if (response.statusCode === 200) return response
  throw refused(response.statusCode, await readText(response))
}

interface CallOptions {
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly owner?: string
  /** Default: a connection of its own. */
  readonly agent?: Agent
  readonly signal: AbortSignal
}

function open(daemon: Daemon, path: string, { method, headers, owner = 'root', agent, signal }: CallOptions): ReturnType<typeof request> {
  const url = new URL('/files', daemonUrl(daemon))
  url.searchParams.set('path', path)
  url.searchParams.set('username', owner)
  return request(url, { method, agent: agent ?? false, headers: { ...daemonHeaders(daemon), ...headers }, signal })
}

/** The daemon runs in an untrusted sandbox, so its answer is capped. */
async function answerOf(call: ReturnType<typeof request>): Promise<{ status: number | undefined; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  call.on('response', resolve)
  call.on('error', reject)
  const response = await promise
  return { status: response.statusCode, body: await readText(response) }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_TEXT_BYTES) throw new DaemonCallError(`${response.statusCode}`, 'the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Takes the message from the body of the error (envd.md 2.4). */
function refused(status: number | undefined, body: string): DaemonCallError {
  try {
    const { message } = JSON.parse(body) as { message?: unknown }
    return new DaemonCallError(`${status}`, typeof message === 'string' ? message : body)
  } catch {
    return new DaemonCallError(`${status}`, body)
  }
}
