import { request } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { scopeHeaders } from '@sandyard/kit/tracing/scope'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import { connectDaemon, connectOnce } from './connect-daemon.ts'
import type { DaemonIdentity } from './daemon-identity.ts'

/** What every `/init` says: it replaces both. */
export interface DaemonTrust {
  readonly identity: DaemonIdentity
  readonly accessToken?: string
  /** Certificate authorities in PEM for the trust store of the sandbox. Absent: it stays as it is. */
  readonly caBundle?: string
}

/** What `/init` sets, after each start (envd.md 5.5). */
export interface DaemonInit extends DaemonTrust {
  readonly envVars: Readonly<Record<string, string>>
  /** Of the create that takes a sandbox of the warm pool: its daemon accepts one claim only. */
  readonly claim?: string
  readonly defaultUser: string
  readonly defaultWorkdir: string
}

export interface DaemonTarget {
  readonly endpoint: SandboxEndpoint
  /** It has answered before: a connection that it refuses is a failure. */
  readonly hasAnswered?: boolean
  /** Of this start of the sandbox: its daemon accepts no other (docs/decisions/011-daemon-identity.md). */
  readonly instanceKey: Secret
}

/** After an answer that asks for another try. */
const PAUSE_MS = 4
/** The beginning of the daemon's text when what was added cannot be removed. */
const NOT_REMOVED = 'failed to remove CA bundle'
/** The beginning of the daemon's text when the bundle of certificates is missing or cannot be written. */
const NO_TRUST_STORE = 'failed to install CA bundle'
const MAX_TEXT_BYTES = 1024
const TRUST_STORE_MISSING =
  'network rules need the file /etc/ssl/certs/ca-certificates.crt in the sandbox, which is missing or cannot be written'
/** Each failed try gives a busy daemon more time. */
const ANSWER_TIMEOUT_MS = { first: 1000, last: 8000 } as const

/**
 * Posts `/init` until the daemon answers. Safe to repeat: `/init` replaces values.
 *
 * @throws AppError `failed_precondition` when the sandbox has no trust store for `caBundle`; `internal` when the daemon refuses; the abort
 * reason when `signal` aborts first
 */
export function initDaemon(target: DaemonTarget, init: DaemonInit, signal: AbortSignal): Promise<void> {
  return postInit(target, () => ({ ...init, timestamp: new Date().toISOString() }), signal)
}

/**
 * Adds certificate authorities to the trust store of a sandbox that runs already; variables and defaults stay. The request has no time, so the
 * daemon applies it whatever the clocks of other servers say.
 *
 * @throws as `initDaemon`
 */
export function trustAuthority(target: DaemonTarget, trust: DaemonTrust, signal: AbortSignal): Promise<void> {
  return postInit(target, () => trust, signal)
}

export interface TrustingInit {
  /** A sandbox with header rules works only with its own authority. */
  readonly isTrustRequired: boolean
  readonly signal: AbortSignal
}

/**
 * Posts `init(true)`, which may have a `caBundle`. A sandbox without a trust store gets `init(false)` unless the trust is required.
 *
 * @returns whether the sandbox trusts the certificates
 * @throws as `initDaemon`
 */
export async function initTrusting(
  target: DaemonTarget,
  init: (trusts: boolean) => DaemonInit,
  { isTrustRequired, signal }: TrustingInit,
): Promise<boolean> {
  try {
    await initDaemon(target, init(true), signal)
    return true
  } catch (err) {
    if (isTrustRequired || !isTrustStoreMissing(err)) throw err
  }
  await initDaemon(target, init(false), signal)
  return false
}

/**
 * Removes the certificates that `/init` has added to the files of a sandbox; the rest stays.
 *
 * @throws AppError `failed_precondition` when they cannot be removed; as `initDaemon`
 */
export function removeAuthorities(target: DaemonTarget, trust: Omit<DaemonTrust, 'caBundle'>, signal: AbortSignal): Promise<void> {
  return postInit(target, () => ({ ...trust, removeCaBundle: true }), signal)
}

/** Whether the error says that the sandbox has no trust store for `caBundle`. Its message is for clients. */
export function isTrustStoreMissing(err: unknown): err is AppError {
  return isAppError(err, 'failed_precondition') && err.message === TRUST_STORE_MISSING
}

async function postInit(
  target: DaemonTarget,
  init: () => DaemonTrust & { readonly removeCaBundle?: true },
  signal: AbortSignal,
): Promise<void> {
  let answerTimeoutMs: number = ANSWER_TIMEOUT_MS.first
  while (true) {
    const socket = target.hasAnswered === true ? await connectOnce(target.endpoint) : await connectDaemon(target.endpoint, signal)
    const late = AbortSignal.timeout(answerTimeoutMs)
    const body = JSON.stringify(init())
    const answer = await post(target, { socket, body, signal: AbortSignal.any([signal, late]) }).catch((cause: unknown) => {
      if (target.hasAnswered === true) throw new AppError('unavailable', 'the daemon does not answer any more', { cause })
      return undefined
    })
    if (answer?.status === 204) return
    if (answer?.status === 400 && answer.text.startsWith(NO_TRUST_STORE)) {
      throw new AppError('failed_precondition', TRUST_STORE_MISSING, { cause: answer.text })
    }
    if (answer?.status === 400 && answer.text.startsWith(NOT_REMOVED)) {
      const message = 'the certificates of the installation cannot be removed from the trust store, as before every image'
      throw new AppError('failed_precondition', message, { cause: answer.text })
    }
    if (answer !== undefined && answer.status < 500) throw new AppError('internal', `the daemon answered ${answer.status} to /init`)
    if (late.aborted) answerTimeoutMs = Math.min(answerTimeoutMs * 2, ANSWER_TIMEOUT_MS.last)
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

interface InitAnswer {
  readonly status: number
  /** Its beginning. */
  readonly text: string
}

interface InitCall {
  /** Closed at the end: no connection stays open to a sandbox that ends. */
  readonly socket: Socket
  readonly body: string
  readonly signal: AbortSignal
}

function post({ endpoint, instanceKey }: DaemonTarget, { socket, body, signal }: InitCall): Promise<InitAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<InitAnswer>()
  const call = request({
    host: endpoint.host,
    port: endpoint.daemonPort,
    path: '/init',
    method: 'POST',
    createConnection: () => socket,
    headers: {
      ...scopeHeaders(),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-sandyard-instance-key': instanceKey.reveal(),
    },
    signal,
  })
  call.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.length < MAX_TEXT_BYTES) text += chunk.slice(0, MAX_TEXT_BYTES)
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  })
  call.on('error', reject)
  call.end(body)
  return promise
}
