import { cFunction } from './c-library.ts'

declare const inArena: unique symbol

/**
 * The address of bytes in an arena. Only arenas create one, and a native thread accepts no other address, so the thread uses only memory that
 * has an owner.
 */
export type Address = number & { readonly [inArena]: true }

/** A part of an arena, for C by its address and for JavaScript by its bytes. */
export interface Piece {
  readonly address: Address
  readonly bytes: Buffer
}

const ALIGNMENT = 64
const POINTER_BYTES = 8

/** Copies zero bytes, and returns the address of the buffer. */
const locate = cFunction<[Buffer, Buffer, 0]>('uintptr_t memcpy(void *to, void *from, size_t size)')

/** Keeps the memory of arenas reachable until they are released. */
const owned = new Set<Arena>()

/** One allocation for all memory that C uses beside the JavaScript thread. It stays in its place until `release`. */
export class Arena {
  readonly #memory: Buffer
  readonly #base: number
  #used = 0

  constructor(capacityBytes: number) {
    // Unlike a buffer that is small, an ArrayBuffer has its bytes outside the heap that is compacted.
    this.#memory = Buffer.from(new ArrayBuffer(capacityBytes))
    this.#base = locate(this.#memory, this.#memory, 0)
    owned.add(this)
  }

  /** What `reset` goes back to. */
  get mark(): number {
    return this.#used
  }

  get freeBytes(): number {
    return this.#memory.length - this.#used
  }

  /** Whether a number is the address of a byte in here. */
  contains(address: Address): boolean {
    return address >= this.#base && address < this.#base + this.#memory.length
  }

  /**
   * Takes zeroed bytes.
   *
   * @throws RangeError where there are not as many left
   */
  take(bytes: number): Piece {
    return this.#takeRaw(bytes, (piece) => piece.fill(0))
  }

  /** Takes uninitialised bytes: untouched memory costs nothing. */
  takeUninitialized(bytes: number): Piece {
    return this.#takeRaw(bytes, () => undefined)
  }

  /** A string as C has it. Room for it is `stringBytes`. */
  string(text: string): Piece {
    return this.#takeRaw(Buffer.byteLength(text) + 1, (bytes) => bytes.writeUInt8(0, bytes.write(text)))
  }

  /** A vector of strings as programs get it: their addresses, and a last one that is zero. */
  strings(texts: readonly string[]): Piece {
    const pointers = this.take(POINTER_BYTES * (texts.length + 1))
    const sizes = texts.map((text) => Buffer.byteLength(text) + 1)
    const { address, bytes } = this.takeUninitialized(sizes.reduce((sum, size) => sum + size, 0))
    let at = 0
    for (const [index, text] of texts.entries()) {
      pointers.bytes.writeBigUInt64LE(BigInt(address + at), index * POINTER_BYTES)
      bytes.write(text, at)
      at += sizes[index] ?? 0
      bytes.writeUInt8(0, at - 1)
    }
    return pointers
  }

  /** Gives back all that was taken since the mark. C must be done with it. */
  reset(mark: number): void {
    this.#used = mark
  }

  /** Gives the memory back. C must be done with all of it. */
  release(): void {
    owned.delete(this)
  }

  #takeRaw(size: number, fill: (bytes: Buffer) => void): Piece {
    const start = this.#used
    if (size > this.freeBytes) throw new RangeError(`the arena has no ${size} bytes left`)
    this.#used = Math.min(roundUp(start + size), this.#memory.length)
    const bytes = this.#memory.subarray(start, start + size)
    fill(bytes)
    return { address: (this.#base + start) as Address, bytes }
  }
}

/** Addresses of the parts of a piece that lie `stride` bytes apart. */
export function addressesIn({ address, bytes }: Piece, stride: number): Address[] {
  return Array.from({ length: Math.floor(bytes.length / stride) }, (_, index) => (address + index * stride) as Address)
}

/** Room that strings take, as one vector or each by itself. */
export function stringBytes(texts: readonly string[]): number {
  const each = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)
  return each + POINTER_BYTES * (texts.length + 1) + 2 * ALIGNMENT
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}
