import { lookup as systemLookup } from 'node:dns'
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { getCACertificates } from 'node:tls'
import type { ErrorClass } from '@sandyard/api-contract/webhooks/webhook-delivery'
import { orGivenUp } from '@sandyard/kit/async/within'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import { parseTarget, targetHost, type TargetParts } from './check-url.ts'

/** Of a whole attempt, the lookup included. */
const ATTEMPT_TIMEOUT_MS = 10_000
/** What is read of an answer, whose content does not matter, so that its sender can end it. */
const DRAIN = { maxBytes: 64 * 1024, timeoutMs: 1000 } as const

export interface PostParts extends TargetParts {
  readonly outbound: Outbound
}

export interface PostedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Cancels the attempt. */
  readonly signal: AbortSignal
}

export interface AttemptOutcome {
  readonly httpStatus: number | null
  /** Null for a status of success. */
  readonly errorClass: ErrorClass | null
}

/**
 * Sends a body once. Every address of the host is checked here, and the connection goes to these addresses, so a name that changes meanwhile leads nowhere
 * else. Redirects are not followed: they are failures. Through the proxy of the installation only the addresses that this server finds are checked.
 */
export async function postDelivery(parts: PostParts, { url: text, headers, body, signal }: PostedRequest): Promise<AttemptOutcome> {
  const url = parseTarget(text)
  if (url === undefined) return failure('request_error')
  const late = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)
  const ending = AbortSignal.any([signal, late])
  try {
    const addresses = await orGivenUp(resolve(targetHost(url), parts), ending, 0)
    if (addresses.some((address) => !parts.targets.isOpen(address))) return failure('request_error')
    if (addresses.length === 0 && parts.outbound.httpProxy === undefined) return failure('dns_error')
    return await send(parts.outbound, { url, addresses, headers, body, signal: ending })
  } catch {
    if (signal.aborted) return failure('canceled')
    return failure(late.aborted ? 'timeout' : 'transport_error')
  }
}

function failure(errorClass: ErrorClass): AttemptOutcome {
  return { httpStatus: null, errorClass }
}

async function resolve(host: string, { lookupHost }: TargetParts): Promise<readonly string[]> {
  return isIP(host) === 0 ? lookupHost(host).catch(() => []) : [host]
}

interface CheckedRequest {
  readonly url: URL
  readonly addresses: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

/** @throws the error of the connection; the abort reason */
async function send(outbound: Outbound, { url, addresses, headers, body, signal }: CheckedRequest): Promise<AttemptOutcome> {
  const isTls = url.protocol === 'https:'
  const proxyEnv = proxyVariables(outbound)
  // An agent for each request: nothing stays open, and no connection is used for another webhook.
  const ca = [...getCACertificates('default'), ...outbound.extraCa]
  const agent = isTls ? new HttpsAgent({ proxyEnv, ca }) : new HttpAgent({ proxyEnv })
  try {
    const call = (isTls ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent,
      lookup: checkedLookup(targetHost(url), addresses),
      signal,
    })
    const response = await answerOf(call, body)
    const status = response.statusCode ?? 0
    await drain(response, signal)
    return { httpStatus: status, errorClass: status >= 200 && status < 300 ? null : 'http_error' }
  } finally {
    agent.destroy()
  }
}

function answerOf(call: ClientRequest, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  call.on('response', resolve)
  call.on('error', reject)
  call.end(body)
  return promise
}

/** Never fails: the status has decided. */
async function drain(response: IncomingMessage, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, DRAIN.timeoutMs)
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DRAIN.maxBytes) resolve()
  })
  response.on('close', resolve)
  response.on('error', () => resolve())
  signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
  response.destroy()
}

/** Answers for the target from what was checked. The proxy of the installation is looked up as usual. */
function checkedLookup(host: string, addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }))
  return (name, options, callback) => {
    const [first] = known
    if (name !== host) systemLookup(name, options, callback)
    // A name that only the proxy knows, and that goes without the proxy.
    else if (first === undefined) callback(new Error(`no address of ${host} was checked`), '')
    else if (options.all === true) callback(null, known)
    else callback(null, first.address, first.family)
  }
}
