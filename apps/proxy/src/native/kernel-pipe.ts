import type { Socket } from 'node:net'
import { descriptorOf } from '@sandyard/kit/net/descriptor-of'

/** `fcntl.h` of Linux: the same on x64 and arm64. */
const O_NONBLOCK = 0o4000
const O_CLOEXEC = 0o2000000
const F_SETPIPE_SZ = 1031
/** SPLICE_F_MOVE and SPLICE_F_NONBLOCK. */
const SPLICE_FLAGS = 1 | 2

/** As much as a read of a large answer takes. The kernel leaves a pipe at 64 KiB when this account has too many large ones. */
const PIPE_BYTES = 512 * 1024
/** A client that does not read holds one while bytes for it are in it; where there are no more, bytes are copied. Each takes two descriptors. */
const MAX_PIPES = 64
/** Kept for the next turn: opening one takes three system calls. */
const MAX_FREE_PIPES = 8

interface SystemCalls {
  readonly pipe2: (ends: number[], flags: number) => number
  readonly fcntl: (descriptor: number, command: number, value: number) => number
  /** Returns a number of bytes; 0 at the end of `from`; -1 when nothing can be moved now, or never. */
  readonly splice: (from: number, fromAt: null, to: number, toAt: null, bytes: number, flags: number) => number
  readonly read: (descriptor: number, into: Buffer, bytes: number) => number
  readonly close: (descriptor: number) => number
}

let systemCalls: SystemCalls | undefined
const freePipes: KernelPipe[] = []
let openPipes = 0

/**
 * A pipe through which bytes go from one socket to another within the kernel, without a copy in this process (splice(2)).
 *
 * All calls are synchronous and do not block. The only memory that they write to is the buffer of `take`, which lives until the call has returned. The
 * descriptor of a socket is read for each call, so a socket that was closed has none.
 */
export class KernelPipe {
  readonly #readEnd: number
  readonly #writeEnd: number
  #held = 0

  private constructor(readEnd: number, writeEnd: number) {
    this.#readEnd = readEnd
    this.#writeEnd = writeEnd
  }

  /** Undefined when too many are open, when this machine has no descriptors, and before `loadKernelPipes`. */
  static open(): KernelPipe | undefined {
    const free = freePipes.pop()
    if (free !== undefined || openPipes >= MAX_PIPES || systemCalls === undefined) return free
    const { pipe2, fcntl } = systemCalls
    const ends: [number, number] = [-1, -1]
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) !== 0) return undefined
    const [readEnd, writeEnd] = ends
    openPipes += 1
    fcntl(writeEnd, F_SETPIPE_SZ, PIPE_BYTES)
    return new KernelPipe(readEnd, writeEnd)
  }

  /** Bytes in the pipe. */
  get held(): number {
    return this.#held
  }

  /** Moves up to `bytes` that have arrived at a socket into the pipe. Returns their number. */
  fill(from: Socket, bytes: number): number {
    const moved = move(descriptorOf(from), this.#writeEnd, bytes)
    this.#held += moved
    return moved
  }

  /** Moves out of the pipe what a socket takes now. To be called only when Node has nothing left to write to the socket. */
  drain(to: Socket): void {
    while (this.#held > 0) {
      const moved = move(this.#readEnd, descriptorOf(to), this.#held)
      if (moved === 0) return
      this.#held -= moved
    }
  }

  /** Takes up to `bytes` out of the pipe. */
  take(bytes: number): Buffer {
    const buffer = Buffer.allocUnsafe(Math.min(bytes, this.#held))
    const count = Math.max(0, calls().read(this.#readEnd, buffer, buffer.length))
    this.#held -= count
    return buffer.subarray(0, count)
  }

  /** To be called once, and no other method after it. Bytes that are still in the pipe are dropped. */
  release(): void {
    if (this.#held === 0 && freePipes.length < MAX_FREE_PIPES) {
      freePipes.push(this)
      return
    }
    openPipes -= 1
    for (const end of [this.#readEnd, this.#writeEnd]) calls().close(end)
  }
}

/** A failed connection moves nothing; what Node does with it next tells how it has ended. */
function move(from: number, to: number, bytes: number): number {
  if (from < 0 || to < 0) return 0
  return Math.max(0, calls().splice(from, null, to, null, bytes, SPLICE_FLAGS))
}

function calls(): SystemCalls {
  if (systemCalls === undefined) throw new Error('the system calls of pipes are not loaded')
  return systemCalls
}

/** @throws Error when this C library lacks one of the functions: then there are no pipes, and all bytes are copied */
export async function loadKernelPipes(): Promise<void> {
  const { default: koffi } = await import('koffi')
  // Null means the C library that Node has loaded.
  const library = koffi.load(null)
  systemCalls = {
    pipe2: library.func('int pipe2(_Out_ int *, int)'),
    fcntl: library.func('int fcntl(int, int, int)'),
    splice: library.func('long splice(int, void *, int, void *, size_t, unsigned int)'),
    read: library.func('long read(int, void *, size_t)'),
    close: library.func('int close(int)'),
  } as unknown as SystemCalls
}
