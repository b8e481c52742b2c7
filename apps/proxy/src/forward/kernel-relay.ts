import type { Socket } from 'node:net'
import { KernelPipe } from '../native/kernel-pipe.ts'

/** A shorter rest of a body is copied. */
export const MIN_RELAYED_BYTES = 256 * 1024
/** Behind one read, of which libuv does 32 at most before it looks at other connections. */
const MAX_TURN_BYTES = 512 * 1024
/** Node writes these when the client's socket is full, because only Node can tell when it takes bytes again. */
const WAITING_BYTES = 16 * 1024

/**
 * The rest of a body on its way from a sandbox to a client, within the kernel: 64 MiB take a third of the processor time of a copy
 * (`bench -- downloads`). Node reads and writes the first bytes of each turn, which tells that there are more, and keeps its timers going.
 */
export class KernelRelay implements Disposable {
  readonly #from: Socket
  readonly #to: Socket
  #pipe: KernelPipe | undefined

  private constructor(from: Socket, to: Socket, pipe: KernelPipe) {
    this.#from = from
    this.#to = to
    this.#pipe = pipe
  }

  /** Undefined when the bytes have to be copied. */
  static open(from: Socket, to: Socket): KernelRelay | undefined {
    const pipe = KernelPipe.open()
    return pipe === undefined ? undefined : new KernelRelay(from, to, pipe)
  }

  /** The client has to read first: `drained` must be called, and nothing else written to it before that calls back. */
  get isBlocked(): boolean {
    return this.#pipe !== undefined && this.#pipe.held > 0
  }

  /** Relays up to `limit` bytes that have arrived. Returns their number. */
  relay(limit: number): number {
    const pipe = this.#pipe
    if (pipe === undefined) return 0
    const most = Math.min(limit, MAX_TURN_BYTES)
    let relayed = 0
    do {
      const bytes = pipe.fill(this.#from, most - relayed)
      if (bytes === 0) break
      relayed += bytes
      pipe.drain(this.#to)
    } while (relayed < most && pipe.held === 0)
    return relayed
  }

  /** Calls back when the client has everything that was relayed; never when its connection fails before. Not to be called again before that. */
  drained(callback: () => void): void {
    const pipe = this.#pipe
    if (pipe === undefined) return
    if (pipe.held === 0) return callback()
    this.#to.write(pipe.take(WAITING_BYTES), (err) => {
      if (err || this.#pipe === undefined) return
      pipe.drain(this.#to)
      this.drained(callback)
    })
  }

  [Symbol.dispose](): void {
    this.#pipe?.release()
    this.#pipe = undefined
  }
}
