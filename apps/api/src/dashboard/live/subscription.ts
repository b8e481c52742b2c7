import { httpStatus } from '@sandyard/kit/errors/http-status'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { ServerFrame } from '@sandyard/dashboard-contract/live/frames'
import type { TopicReader } from './live-topic.ts'
import type { Outbox } from './outbox.ts'

/** One subscription of a page: numbers its patches, and ends when the page cannot take them. */
export class Subscription implements TopicReader {
  readonly #id: number
  readonly #outbox: Outbox
  readonly #onEnd: () => void
  #seq = 0
  #isOver = false

  constructor(id: number, outbox: Outbox, onEnd: () => void) {
    this.#id = id
    this.#outbox = outbox
    this.#onEnd = onEnd
  }

  get isOver(): boolean {
    return this.#isOver
  }

  snapshot(data: unknown): void {
    this.#seq = 0
    const text = toText({ t: 'snapshot', id: this.#id, data })
    if (text === undefined || !this.#outbox.offer(text))
      this.#endWith({ t: 'error', id: this.#id, code: 413, message: 'There is too much to show at once' })
  }

  patch(data: unknown): void {
    this.#seq += 1
    const text = toText({ t: 'patch', id: this.#id, seq: this.#seq, data })
    if (text === undefined || !this.#outbox.offer(text)) this.gap()
  }

  gap(): void {
    this.#endWith({ t: 'gap', id: this.#id })
  }

  fail(err: unknown): void {
    this.#endWith({ t: 'error', id: this.#id, ...describeError(err) })
  }

  #endWith(frame: ServerFrame): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onEnd()
    this.#outbox.tell(frame)
  }
}

export function describeError(err: unknown): { readonly code: number; readonly message: string } {
  if (isAppError(err)) return { code: httpStatus(err.kind), message: err.message }
  return { code: 503, message: 'The server could not do this now: try again' }
}

function toText(frame: ServerFrame): string | undefined {
  try {
    return JSON.stringify(frame)
  } catch {
    return undefined
  }
}
