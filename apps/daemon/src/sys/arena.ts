import { cFunction } from './c-library.ts'

declare const inArena: unique symbol

/**
 * The address of bytes in an arena. Only arenas create one, and a native thread accepts no other address, so the thread uses only memory that
 * has an owner.
 */
export type Address = number & { readonly [inArena]: true }

/** A part of an arena. C uses its address, JavaScript its bytes. */
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

/** One allocation for all memory that a native thread uses. It is neither moved nor freed before `release`. */
export class Arena {
  readonly #memory: Buffer
  readonly #base: number
  #used = 0

  constructor(capacityBytes: number) {
    // The bytes of an ArrayBuffer are outside the JavaScript heap, so the garbage collector does not move them. Small buffers may be inside.
    this.#memory = Buffer.from(new ArrayBuffer(capacityBytes))
    this.#base = locate(this.#memory, this.#memory, 0)
    owned.add(this)
  }

  /** The current position, for `reset`. */
  get mark(): number {
    return this.#used
  }

  get freeBytes(): number {
    return this.#memory.length - this.#used
  }

  /** Whether the address is in this arena. */
  contains(address: Address): boolean {
    return address >= this.#base && address < this.#base + this.#memory.length
  }

  /**
   * Takes zeroed bytes.
   *
   * @throws RangeError if fewer bytes are left
   */
  take(bytes: number): Piece {
    return this.#takeRaw(bytes, (piece) => piece.fill(0))
  }

  /** Takes uninitialised bytes. The kernel provides memory only for pages that are written. */
  takeUninitialized(bytes: number): Piece {
    return this.#takeRaw(bytes, () => undefined)
  }

  /** A string that ends in a NUL byte. `stringBytes` computes its size. */
  string(text: string): Piece {
    return this.#takeRaw(Buffer.byteLength(text) + 1, (bytes) => bytes.writeUInt8(0, bytes.write(text)))
  }

  /** A vector of strings such as `argv`: their addresses, then a null pointer. */
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

  /** Frees all pieces that were taken after the mark. C must not use them any more. */
  reset(mark: number): void {
    this.#used = mark
  }

  /** Frees the arena. C must not use it any more. */
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

/** The bytes that strings take in an arena, as one vector or separately. */
export function stringBytes(texts: readonly string[]): number {
  const each = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)
  return each + POINTER_BYTES * (texts.length + 1) + 2 * ALIGNMENT
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}
