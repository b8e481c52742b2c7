/**
 * The standard's `Headers`, as far as the Connect library uses it. In the bundle it takes the place of Node's, whose first use loads all of
 * Node's HTTP client: 4 MiB in every sandbox.
 */
class LightHeaders {
  readonly #values = new Map<string, string>()

  constructor(init?: LightHeaders | Iterable<readonly [string, string]> | Readonly<Record<string, string>>) {
    if (init instanceof LightHeaders) this.#values = new Map(init.#values)
    else if (init !== undefined) for (const [name, value] of Symbol.iterator in init ? init : Object.entries(init)) this.append(name, value)
  }

  append(name: string, value: string): void {
    const before = this.get(name)
    this.#values.set(name.toLowerCase(), before === null ? value.trim() : `${before}, ${value.trim()}`)
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value.trim())
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase())
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase())
  }

  /** What `visit` deletes is not visited; names come in order, as in the standard. */
  forEach(visit: (value: string, name: string) => void): void {
    for (const [name, value] of this) visit(value, name)
  }

  *[Symbol.iterator](): Generator<[string, string]> {
    for (const name of [...this.#values.keys()].sort()) {
      const value = this.#values.get(name)
      if (value !== undefined) yield [name, value]
    }
  }
}

const ABORTED: unknown = AbortSignal.abort().reason

type AbortListener = (this: LightAbortSignal, event: { readonly type: 'abort'; readonly target: LightAbortSignal }) => void

/** An `AbortSignal` for listeners to `abort`. Node's functions accept it; `AbortSignal.any` takes only Node's own. */
class LightAbortSignal {
  /** Whether each listener is called once. */
  readonly #listeners = new Map<AbortListener, boolean>()
  aborted = false
  reason: unknown

  addEventListener(type: string, listener: AbortListener, options?: { readonly once?: boolean }): void {
    if (type === 'abort' && !this.#listeners.has(listener)) this.#listeners.set(listener, options?.once === true)
  }

  removeEventListener(_type: string, listener: AbortListener): void {
    this.#listeners.delete(listener)
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason
  }

  /** Only for the controller. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    // Like Node's, this skips listeners that an earlier one removes, and calls those that it adds.
    for (const [listener, once] of this.#listeners) {
      if (once) this.#listeners.delete(listener)
      try {
        listener.call(this, { type: 'abort', target: this })
      } catch (error) {
        // The other listeners are called all the same.
        process.nextTick(() => {
          throw error
        })
      }
    }
  }
}

/**
 * An `AbortController` with light signals, whose aborts without a reason share one. In the bundle it takes the place of Node's, whose event
 * targets are slow and which creates an exception with a stack for each abort. The Connect library makes three for every call, links them to
 * each other and to that of the daemon's end, and aborts two of them without a reason, also of calls that succeed.
 */
class LightAbortController {
  readonly signal = new LightAbortSignal()

  abort(reason: unknown = ABORTED): void {
    this.signal.abort(reason)
  }
}

export { LightAbortController as AbortController, LightHeaders as Headers }
