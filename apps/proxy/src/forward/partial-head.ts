import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyError } from '../answers/proxy-error.ts'
import { Quota } from '@sandyard/kit/limits/quota'

/** Larger than the head of any real answer. */
export const MAX_ANSWER_HEAD_BYTES = 256 * 1024

const MIB = 1024 ** 2
/**
 * Bytes of the heads of answers that have arrived in part, by sandbox, of all connections of the process. A head comes in one read, unless it is large
 * or its service does not go on: without a cap the requests to hostile services would fill the heap.
 */
const quota = new Quota({ all: 64 * MIB, one: 8 * MIB, guaranteed: MAX_ANSWER_HEAD_BYTES })

/** Counts the head of an answer, or of several answers to one request, while it has arrived in part. */
export class PartialHead {
  readonly #sandboxId: string
  #bytes = 0

  constructor(sandboxId: string) {
    this.#sandboxId = sandboxId
  }

  /** @throws ProxyError `limit` */
  add(bytes: number): void {
    const refusal = quota.take(this.#sandboxId, bytes)
    if (refusal !== undefined) {
      throw new ProxyError({ kind: 'limit', cap: 'answer_heads', limit: refusal.limit, sandboxId: this.#sandboxId })
    }
    this.#bytes += bytes
  }

  /** The head is complete, or nothing more of it is read. Safe to repeat. */
  end(): void {
    if (this.#bytes === 0) return
    quota.release(this.#sandboxId, this.#bytes)
    this.#bytes = 0
  }
}

/** Counts the head of the answer to an upgrade, and aborts the upgrade at the cap. */
export function capPartialHead(upstream: ClientRequest, sandboxId: string): void {
  const head = new PartialHead(sandboxId)
  let isComplete = false
  const onData = (bytes: Buffer): void => {
    // Node's own listener has parsed these bytes.
    if (isComplete) return
    try {
      head.add(bytes.length)
    } catch (err) {
      upstream.destroy(err as Error)
    }
  }
  const complete = (): void => {
    isComplete = true
    head.end()
    upstream.socket?.off('data', onData)
  }
  upstream.once('socket', (socket: Socket) => socket.on('data', onData))
  upstream.on('information', () => head.end())
  for (const event of ['response', 'upgrade', 'close']) upstream.once(event, complete)
}
