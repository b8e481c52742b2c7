/**
 * Bytes of the heads of answers that have arrived in part. A head comes in one read, unless it is large or its service does not go on: without a cap the
 * requests to hostile services would fill the heap.
 */
export class PartialHeads {
  readonly #limits: PartialHeadLimits
  readonly #bySandbox = new Map<string, number>()
  #bytes = 0

  constructor(limits: PartialHeadLimits) {
    this.#limits = limits
  }

  /** Counts more bytes of a sandbox. Returns the cap that they exceed; they count all the same until they are released. */
  add(sandboxId: string, bytes: number): number | undefined {
    const own = (this.#bySandbox.get(sandboxId) ?? 0) + bytes
    this.#bySandbox.set(sandboxId, own)
    this.#bytes += bytes
    const { maxBytes, maxSandboxBytes, freeBytes } = this.#limits
    if (own > maxSandboxBytes) return maxSandboxBytes
    return own > freeBytes && this.#bytes > maxBytes ? maxBytes : undefined
  }

  release(sandboxId: string, bytes: number): void {
    this.#bytes -= bytes
    const own = (this.#bySandbox.get(sandboxId) ?? 0) - bytes
    if (own > 0) this.#bySandbox.set(sandboxId, own)
    else this.#bySandbox.delete(sandboxId)
  }
}

export interface PartialHeadLimits {
  /** Of all sandboxes. */
  readonly maxBytes: number
  readonly maxSandboxBytes: number
  /** A sandbox with less is never refused, so that others cannot take its share. */
  readonly freeBytes: number
}
