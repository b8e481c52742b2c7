import type { Database } from '@sandyard/db/database'
import { RELEASE } from '@sandyard/kit/config/release'
import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries.ts'
import { endAttempt, type AttemptResult } from './end-attempt.ts'
import { postDelivery, type AttemptOutcome, type PostParts } from './post-delivery.ts'
import { signDelivery } from './sign-delivery.ts'
import { openSecret } from './webhook-secret.ts'

export interface SenderParts extends PostParts {
  readonly database: Database
  readonly keyRing: KeyRing
  readonly retriesMs: readonly number[]
  readonly log: Logger
  readonly onResult?: (result: AttemptResult) => void
}

/** Deliveries that one server sends at once. */
const MAX_IN_FLIGHT = 64
const LOOK_EVERY_MS = 1000
const SIGNATURE_VERSION = 'v1'

/** Sends deliveries that are due. A delivery is sent at least once: if a server dies before it has stored the answer, another one sends it again, under the same id. */
export class DeliverySender {
  readonly #parts: SenderParts
  readonly #stopping = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  #loop: Loop | undefined

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  start(): void {
    this.#loop = runLoop({ name: 'webhook deliveries', everyMs: LOOK_EVERY_MS, log: this.#parts.log }, () => this.#sendDue())
  }

  /** Looks for deliveries that are due now. */
  wake(): void {
    this.#loop?.wake()
  }

  /** Cancels what is in flight; another server sends it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop?.stop()
    await Promise.all(this.#inFlight)
  }

  async #sendDue(): Promise<void> {
    const claimed = await claimDeliveries(this.#parts.database, MAX_IN_FLIGHT - this.#inFlight.size)
    for (const delivery of claimed) {
      const sending: Promise<void> = this.#send(delivery).finally(() => {
        this.#inFlight.delete(sending)
        this.wake()
      })
      this.#inFlight.add(sending)
    }
  }

  /** Never fails: a delivery whose end could not be stored is sent again after its lease. */
  async #send(delivery: ClaimedDelivery): Promise<void> {
    const { database, retriesMs, log, onResult } = this.#parts
    const { deliveryId, webhookId } = delivery
    try {
      const at = new Date()
      const started = performance.now()
      const outcome = await this.#post(delivery)
      const ms = Math.round(performance.now() - started)
      const result = await endAttempt(database, { delivery, outcome, at, ms }, retriesMs)
      if (result !== undefined) onResult?.(result)
      if (outcome.errorClass !== null) log.info({ webhookId, deliveryId, ...outcome }, 'webhook delivery failed')
    } catch (err) {
      log.error({ err, webhookId, deliveryId }, 'webhook delivery could not be completed')
    }
  }

  #post(delivery: ClaimedDelivery): Promise<AttemptOutcome> {
    const { webhookId, deliveryId, url } = delivery
    const secret = openSecret(this.#parts.keyRing, webhookId, delivery)
    if (secret === undefined) return Promise.resolve({ httpStatus: null, errorClass: 'signature_error' })
    const { body, signature } = signDelivery(secret, delivery.body)
    const headers = {
      'content-type': 'application/json',
      'user-agent': `sandyard/${RELEASE}`,
      'e2b-webhook-id': webhookId,
      'e2b-delivery-id': deliveryId,
      'e2b-signature-version': SIGNATURE_VERSION,
      'e2b-signature': signature,
    }
    return postDelivery(this.#parts, { url, headers, body, signal: this.#stopping.signal })
  }
}
