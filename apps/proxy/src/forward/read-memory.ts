import type { OnReadOpts, Socket } from 'node:net'

/** Enough for the answers of small calls. */
export const SMALL_BLOCK_BYTES = 16 * 1024
/** A read of this size costs far less than eight reads of 64 KiB (`bench -- downloads`). */
const LARGE_BLOCK_BYTES = 512 * 1024
const GROWTH = 4
/** For all blocks above `MEDIUM_BLOCK_BYTES` of a process; where there are no more, reads have that size. */
const MAX_LARGE_BYTES = 64 * 1024 * 1024
const MEDIUM_BLOCK_BYTES = 64 * 1024
/** Blocks of `LARGE_BLOCK_BYTES` that nobody uses. New memory would cost as much as a copy of it. */
const MAX_FREE_BLOCKS = 8

let largeBytes = 0
const freeBlocks: Buffer[] = []

const memories = new WeakMap<Socket, ReadMemory>()

/** At most what is wanted. */
function allowedBytes(wanted: number): number {
  return largeBytes + wanted <= MAX_LARGE_BYTES ? wanted : Math.min(wanted, MEDIUM_BLOCK_BYTES)
}

/** A piece of memory, which is counted until it is neither read into nor lent. */
class Block {
  readonly bytes: Buffer
  #users = 1

  constructor(wanted: number) {
    const bytes = allowedBytes(wanted)
    const free = bytes === LARGE_BLOCK_BYTES ? freeBlocks.pop() : undefined
    this.bytes = free ?? Buffer.allocUnsafeSlow(bytes)
    if (bytes > MEDIUM_BLOCK_BYTES) largeBytes += bytes
  }

  get isLent(): boolean {
    return this.#users > 1
  }

  lend(): void {
    this.#users += 1
  }

  release(): void {
    this.#users -= 1
    if (this.#users > 0 || this.bytes.length <= MEDIUM_BLOCK_BYTES) return
    largeBytes -= this.bytes.length
    if (this.bytes.length === LARGE_BLOCK_BYTES && freeBlocks.length < MAX_FREE_BLOCKS) freeBlocks.push(this.bytes)
  }
}

/**
 * The memory that a connection is read into, again and again. It grows while reads fill it, as large answers do, and becomes small again when the
 * connection is idle. A slow client holds one block; after a growth, until it has read the smaller block, it holds two. The caller of `lend` pauses the
 * connection until it gives the block back.
 */
export class ReadMemory {
  #block = new Block(SMALL_BLOCK_BYTES)
  #wanted = SMALL_BLOCK_BYTES
  #socket: Socket | undefined

  /** For `connect`. The socket emits `data` with bytes that are valid until the listener returns, or longer with `lendBytes`. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#next(),
    callback: (count, { length }) => {
      if (count === length) this.#wanted = Math.min(length * GROWTH, LARGE_BLOCK_BYTES)
      this.#socket?.emit('data', this.#block.bytes.subarray(0, count))
      return true
    },
  }

  attach(socket: Socket): void {
    this.#socket = socket
    memories.set(socket, this)
    socket.once('close', () => this.#block.release())
  }

  lend(): () => void {
    const block = this.#block
    block.lend()
    return () => block.release()
  }

  shrink(): void {
    this.#wanted = SMALL_BLOCK_BYTES
  }

  #next(): Uint8Array {
    const block = this.#block
    const { length } = block.bytes
    // Nothing is read into a block that is lent before it was given back.
    const isUsable = !block.isLent || this.#socket?.isPaused() === true
    const isWanted = this.#wanted === length || (this.#wanted > length && allowedBytes(this.#wanted) <= length)
    if (this.#socket?.destroyed === true || (isUsable && isWanted)) return block.bytes
    block.release()
    this.#block = new Block(this.#wanted)
    return this.#block.bytes
  }
}

/** Whether the bytes of the last read are in memory that the next read uses again. */
export function reusesMemory(socket: Socket): boolean {
  return memories.has(socket)
}

/**
 * Keeps the bytes of the last read valid until the returned function is called. To be called while `data` is emitted. The connection must be paused
 * until then, unless it is given to another request.
 */
export function lendBytes(socket: Socket): (() => void) | undefined {
  return memories.get(socket)?.lend()
}

/** The next read of the connection is a small one. */
export function shrinkMemory(socket: Socket): void {
  memories.get(socket)?.shrink()
}
