import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import type { Daemon } from '../daemon/open-daemon.ts'

const MAX_MESSAGE_BYTES = 64 * 1024

/** The content of a file of a sandbox (envd.md 5.6). @throws CliFailure; the reason of the abort */
export async function readFile(daemon: Daemon, path: string, signal: AbortSignal): Promise<Readable> {
  const call = open(daemon, path, { method: 'GET', headers: { 'accept-encoding': 'identity' }, signal })
  call.end()
  return checked(await answerOf(call, signal))
}

/**
 * Writes a file of a sandbox, with its directories (envd.md 5.7).
 *
 * @returns its absolute path
 * @throws CliFailure; the reason of the abort
 */
export async function writeFile(daemon: Daemon, path: string, content: Readable, signal: AbortSignal): Promise<string> {
  const call = open(daemon, path, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, signal })
  const answered = answerOf(call, signal)
  answered.catch(() => undefined)
  const sent = pipeline(content, call, { signal })
  try {
    // An answer before the end of the content is a refusal.
    const answer = await Promise.race([answered, sent.then(() => answered)])
    return pathOf(await textOf(await checked(answer))) ?? path
  } finally {
    content.destroy()
    await sent.catch(() => undefined)
  }
}

interface CallOptions {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

function open(
  { url: base, headers: own, agent }: Daemon,
  path: string,
  { method, headers, signal }: CallOptions,
): ReturnType<typeof requestHttp> {
  const url = new URL(`${base}/files`)
  url.searchParams.set('path', path)
  // The header of the calls names the user to the process service, the query to this route.
  const user =
    own['authorization'] === undefined ? undefined : Buffer.from(own['authorization'].slice('Basic '.length), 'base64').toString()
  if (user !== undefined) url.searchParams.set('username', user.replace(/:$/, ''))
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  return send(url, { method, agent, headers: { ...own, ...headers }, signal })
}

async function answerOf(call: ReturnType<typeof requestHttp>, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  call.on('response', resolve)
  call.on('error', reject)
  try {
    return await promise
  } catch (cause) {
    signal.throwIfAborted()
    const { code, message } = cause as NodeJS.ErrnoException
    throw new CliFailure(EXIT.notReachable, `The sandbox is not reachable (${code ?? message}): is E2B_SANDBOX_URL right?`, { cause })
  }
}

/** @throws CliFailure with the message of the answer's body (envd.md 2.4) */
async function checked(answer: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode = 0 } = answer
  if (statusCode >= 200 && statusCode < 300) return answer
  throw new CliFailure(exitCodeOf(statusCode), `${messageOf(await textOf(answer), statusCode).replace(/\.$/, '')}.`)
}

/** Of the first file in the answer. */
function pathOf(text: string): string | undefined {
  try {
    const [written] = JSON.parse(text) as { readonly path?: string }[]
    return written?.path
  } catch {
    return undefined
  }
}

/** The daemon runs in an untrusted sandbox, so its answer is cut. */
async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk
    if (text.length > MAX_MESSAGE_BYTES) break
  }
  return text
}

function messageOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    if (typeof message === 'string' && message !== '') return message
  } catch {
    // Plain text, or nothing.
  }
  return text.trim() === '' || text.includes('<html') ? `The sandbox answered with status ${status}` : text.trim()
}

function exitCodeOf(status: number): ExitCode {
  if (status === 404) return EXIT.notFound
  if (status === 401 || status === 403) return EXIT.refused
  return status === 502 || status === 503 ? EXIT.notReachable : EXIT.failed
}
