import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isChunked } from '../message/head.ts'
import type { Quota, Refusal } from '@sandyard/kit/limits/quota'
import { SMALL_HEAD_BYTES, TEXT_BYTES } from './head-bytes.ts'

const HEAD_END = '\r\n\r\n'
const LF = 0x0a

/**
 * Counts the head of the next request of a connection while it arrives. Node's parser keeps it until the deadline of heads, and one of 64 KiB with
 * many headers takes 400 KiB of the heap. Node does not say where in a read a request has ended: where that is not known, a body counts too.
 */
export class PartialRequest {
  readonly #quota: Quota
  readonly #owner: string | undefined
  /** Requests whose heads were completed by the current read. */
  #begun = 0
  /** The last of them, until its body has arrived. */
  #req: IncomingMessage | undefined
  /** Bytes of its body that are still to come, where that is known. */
  #left: number | undefined
  #bytes = 0
  #counted = 0
  #state: 'reads' | 'stops' | 'stopped' = 'reads'

  constructor(quota: Quota, owner: string | undefined) {
    this.#quota = quota
    this.#owner = owner
  }

  /** The head is complete. */
  enter(req: IncomingMessage): void {
    this.#begun += 1
    this.#req = req
    // The end of a head that has arrived in part may not be in one read.
    this.#left = this.#bytes > 0 || isChunked(req) ? undefined : Number(req.headers['content-length'] ?? 0)
    this.end()
  }

  /** Node keeps nothing of later reads. */
  stop(): void {
    this.#state = 'stopped'
    this.#req = undefined
  }

  /** Node keeps nothing of later reads, but of the current one. */
  stopAfterRead(): void {
    if (this.#state === 'reads') this.#state = 'stops'
  }

  /** To be called when Node has parsed a read, with all requests that it has completed. Returns the refusal when there is too much. */
  read(bytes: Buffer): Refusal | undefined {
    if (this.#state === 'stopped') return undefined
    const refusal = this.#add(this.#behindRequests(bytes))
    if (this.#state === 'stops' || refusal !== undefined) this.stop()
    return refusal
  }

  /** The connection is closed. Safe to repeat. */
  end(): void {
    if (this.#counted > 0) this.#quota.release(this.#owner, this.#counted)
    this.#bytes = 0
    this.#counted = 0
  }

  #behindRequests(bytes: Buffer): Buffer {
    const begun = this.#begun
    this.#begun = 0
    if (this.#req === undefined) return bytes
    if (begun > 1) this.#left = undefined
    const behindHead = begun === 1 ? bytes.subarray(bytes.indexOf(HEAD_END) + HEAD_END.length) : bytes
    if (this.#req.complete) {
      this.#req = undefined
      return this.#left === undefined ? bytes.subarray(bytes.lastIndexOf(HEAD_END) + 1) : behindHead.subarray(this.#left)
    }
    if (this.#left !== undefined) this.#left -= behindHead.length
    return bytes.subarray(bytes.length)
  }

  #add(text: Buffer): Refusal | undefined {
    this.#bytes += text.length + countLines(text) * 2 * TEXT_BYTES
    if (this.#bytes <= SMALL_HEAD_BYTES) return undefined
    const refusal = this.#quota.take(this.#owner, this.#bytes - this.#counted)
    if (refusal === undefined) this.#counted = this.#bytes
    return refusal
  }
}

/**
 * Frees what Node's parser has of a head, for a connection that serves no further request. Node frees it when the connection has closed, which is after
 * all reads of this turn of the event loop: a thousand of them would fill the heap.
 */
export function dropPartialHead(socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: object | null }
  Object.assign(parser ?? {}, { _headers: [], _url: '' })
}

function countLines(text: Buffer): number {
  let lines = 0
  for (let at = text.indexOf(LF); at !== -1; at = text.indexOf(LF, at + 1)) lines += 1
  return lines
}
