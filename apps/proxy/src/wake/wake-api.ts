import { proxyWakeKey } from '@sandyard/db/sandbox-token'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { scopeHeaders } from '@sandyard/kit/tracing/scope'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { TokenSeed } from '../routes/token-seed.ts'

/** The answer of the control plane to a request for a resume. */
export type WakeAnswer =
  | { readonly kind: 'running' }
  /** It is unknown, nothing may resume it, or its resume failed. */
  | { readonly kind: 'not_found' }
  /** Its team is blocked or banned. */
  | { readonly kind: 'resume_refused' }
  /** Its team has reached a limit; the message is for the client. */
  | { readonly kind: 'resume_limit'; readonly message: string }
  /** Its state does not settle, or there was no answer in time. */
  | { readonly kind: 'transitioning' }

export interface WakeApiOptions {
  /** The base URL of the control plane; without one nothing is resumed. */
  readonly url: string | undefined
  /** Deadline of one call. */
  readonly timeoutMs: number
  readonly log: Logger
}

/** Asks the control plane to resume sandboxes, with the key of the installation. */
export class WakeApi {
  #url: string | undefined
  readonly #seed: TokenSeed
  readonly #timeoutMs: number
  readonly #log: Logger

  constructor(seed: TokenSeed, { url, timeoutMs, log }: WakeApiOptions) {
    this.#url = url
    this.#seed = seed
    this.#timeoutMs = timeoutMs
    this.#log = log
  }

  moveTo(url: string): void {
    this.#url = url
  }

  /** Resolves when the sandbox runs or will not. Never rejects, except with the reason of an aborted signal. */
  async wake(sandboxId: string, signal: AbortSignal): Promise<WakeAnswer> {
    const late = AbortSignal.timeout(this.#timeoutMs)
    try {
      return await inSpan('wake', { 'sandyard.sandbox_id': sandboxId }, () => this.#ask(sandboxId, AbortSignal.any([signal, late])))
    } catch (err) {
      signal.throwIfAborted()
      this.#log.warn({ err, sandboxId }, 'the control plane could not be asked to resume a sandbox')
      return { kind: late.aborted ? 'transitioning' : 'not_found' }
    }
  }

  async #ask(sandboxId: string, signal: AbortSignal): Promise<WakeAnswer> {
    if (this.#url === undefined) throw new Error('SANDYARD_API_INTERNAL_URL is not set')
    const authorization = `Bearer ${proxyWakeKey(await this.#seed.read())}`
    const url = new URL(`/internal/sandboxes/${sandboxId}/wake`, this.#url)
    const answer = await fetch(url, { method: 'POST', headers: { ...scopeHeaders(), authorization }, redirect: 'error', signal })
    const text = await answer.text()
    switch (answer.status) {
      case 200:
        return { kind: 'running' }
      case 403:
        return { kind: 'resume_refused' }
      case 404:
        return { kind: 'not_found' }
      case 409:
        return { kind: 'transitioning' }
      case 429:
        return { kind: 'resume_limit', message: messageOf(text) }
      default:
        throw new Error(`the control plane answered ${answer.status}: ${text.slice(0, 500)}`)
    }
  }
}

/** @throws when the body has no message */
function messageOf(text: string): string {
  const body: unknown = JSON.parse(text)
  if (typeof body === 'object' && body !== null && 'message' in body && typeof body.message === 'string') return body.message
  throw new Error('the answer has no message')
}
