import { toPattern } from './server-name.ts'

/**
 * Values by domain: `example.com` matches itself, `*.example.com` every name below at any depth but not itself, `*` every name
 * (control-plane.md 18.4). An exact entry wins, then the longest wildcard (clients-python-2.63.md 6).
 */
export class DomainMap<V> {
  readonly #exact = new Map<string, V>()
  readonly #below = new Map<string, V>()
  readonly #every: V | undefined

  constructor(entries: readonly (readonly [domain: string, value: V])[]) {
    for (const [domain, value] of entries) {
      const pattern = toPattern(domain)
      if (pattern === '*') this.#every = value
      else if (pattern.startsWith('*.')) this.#below.set(pattern.slice(2), value)
      else this.#exact.set(pattern, value)
    }
  }

  get isEmpty(): boolean {
    return this.#exact.size + this.#below.size === 0 && this.#every === undefined
  }

  /** @param name - as `toServerName` returns it */
  find(name: string): V | undefined {
    const exact = this.#exact.get(name)
    if (exact !== undefined) return exact
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const value = this.#below.get(name.slice(dot + 1))
      if (value !== undefined) return value
    }
    return this.#every
  }
}
