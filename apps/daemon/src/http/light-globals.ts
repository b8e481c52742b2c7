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

/**
 * An `AbortController` whose aborts without a reason share one. In the bundle it takes the place of Node's, which creates an exception with a
 * stack for each. The Connect library aborts two signals of every call without a reason, also of calls that succeed.
 */
class LightAbortController extends globalThis.AbortController {
  override abort(reason: unknown = ABORTED): void {
    super.abort(reason)
  }
}

export { LightAbortController as AbortController, LightHeaders as Headers }
