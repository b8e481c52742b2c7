import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import type { DaemonIdentity } from './daemon-identity.ts'

/** What `/init` sets, after each start (envd.md 5.5). */
export interface DaemonInit {
  readonly identity: DaemonIdentity
  readonly accessToken?: string
  readonly envVars: Readonly<Record<string, string>>
  readonly defaultUser: string
  readonly defaultWorkdir: string
}

export interface DaemonTarget {
  readonly endpoint: SandboxEndpoint
  /** Of this start of the sandbox: its daemon accepts no other (docs/decisions/011-daemon-identity.md). */
  readonly instanceKey: Secret
}

/** A starting daemon refuses connections at once, so short pauses cost little and save time. */
const PAUSE_MS = 4
/** An address that is not configured yet drops packets. A new connection is faster than the kernel's own retransmits. */
const CONNECT_TIMEOUT_MS = 200
/** Each failed try gives a busy daemon more time. */
const ANSWER_TIMEOUT_MS = { first: 1000, last: 8000 } as const

/**
 * Posts `/init` until the daemon answers. Safe to repeat: `/init` replaces values.
 *
 * @throws AppError `internal` when the daemon refuses; the abort reason when `signal` aborts first
 */
export async function initDaemon(target: DaemonTarget, init: DaemonInit, signal: AbortSignal): Promise<void> {
  let answerTimeoutMs: number = ANSWER_TIMEOUT_MS.first
  while (true) {
    signal.throwIfAborted()
    const body = JSON.stringify({ ...init, timestamp: new Date().toISOString() })
    const late = AbortSignal.timeout(answerTimeoutMs)
    const status = await post(target, body, AbortSignal.any([signal, late])).catch(() => undefined)
    if (status === 204) return
    if (status !== undefined && status < 500) throw new AppError('internal', `the daemon answered ${status} to /init`)
    if (late.aborted) answerTimeoutMs = Math.min(answerTimeoutMs * 2, ANSWER_TIMEOUT_MS.last)
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** Each try uses its own connection: no connection stays open to a sandbox that ends. */
function post({ endpoint, instanceKey }: DaemonTarget, body: string, signal: AbortSignal): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const call = request({
    host: endpoint.host,
    port: endpoint.daemonPort,
    path: '/init',
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-sandyard-instance-key': instanceKey.reveal(),
    },
    signal,
  })
  const connecting = setTimeout(() => call.destroy(new Error('the daemon cannot be connected to yet')), CONNECT_TIMEOUT_MS)
  call.on('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)))
  call.on('close', () => clearTimeout(connecting))
  call.on('response', (response) => {
    response.resume()
    response.on('end', () => resolve(response.statusCode))
    response.on('error', reject)
  })
  call.on('error', reject)
  call.end(body)
  return promise
}
