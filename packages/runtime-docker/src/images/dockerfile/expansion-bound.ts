import { refused } from './refused.ts'

/** The cap of one instruction after its variables are replaced. */
const MAX_INSTRUCTION_BYTES = 256 * 1024
/** The cap of all instructions together: the engine stores their results in the image. */
const MAX_TOTAL_BYTES = 8 * 1024 ** 2

/** The instructions in which the engine's builder replaces variables. */
const EXPANDED: ReadonlySet<string> = new Set([
  'ADD',
  'ARG',
  'COPY',
  'ENV',
  'EXPOSE',
  'FROM',
  'LABEL',
  'STOPSIGNAL',
  'USER',
  'VOLUME',
  'WORKDIR',
])

const REFERENCE = /\$\{?([A-Za-z_]\w*)/g
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g
const ASSIGNMENT = /^([A-Za-z_]\w*)(?:=|$)/

/**
 * An upper bound of the size of a Dockerfile's variables. The engine replaces variables in its own memory without a limit, and a value
 * that doubles in each of thirty lines takes gigabytes. The bound is never lower than the size in the engine.
 */
export class ExpansionBound {
  readonly #sizes = new Map<string, number>()
  /** A lower limit for the size of every variable, for assignments that the engine may parse differently. */
  #floor = 0
  #total = 0

  /** Adds the variables of an image, as `NAME=value`. */
  addImage(env: readonly string[]): void {
    for (const entry of env) {
      const end = entry.indexOf('=')
      if (end > 0) this.#raise(entry.slice(0, end), Buffer.byteLength(entry))
    }
  }

  /** @throws AppError `failed_precondition` for an instruction that becomes too large */
  add(instruction: string, rest: string): void {
    if (!EXPANDED.has(instruction)) return
    const size = this.#expand(rest)
    this.#total += size
    if (size > MAX_INSTRUCTION_BYTES || this.#total > MAX_TOTAL_BYTES) {
      throw refused(`${instruction} ${rest}`, 'it becomes too large with the values of its variables')
    }
    if (instruction === 'ENV' || instruction === 'ARG') this.#assign(rest, size)
  }

  #assign(rest: string, size: number): void {
    const words = rest.match(WORD) ?? []
    const names = words.map((word) => ASSIGNMENT.exec(word)?.[1])
    const isPlain = !/[\\`]/.test(rest) && rest.replaceAll(WORD, '').trim() === ''
    if (!isPlain || names.includes(undefined)) {
      // `ENV NAME some words` is such an assignment.
      this.#floor = Math.max(this.#floor, size)
      return
    }
    const sizes = words.map((word) => this.#expand(word))
    for (const [at, name] of names.entries()) if (name !== undefined) this.#raise(name, sizes[at] ?? size)
  }

  #expand(text: string): number {
    let size = Buffer.byteLength(text)
    for (const [, name = ''] of text.matchAll(REFERENCE)) size += Math.max(this.#sizes.get(name) ?? 0, this.#floor)
    return size
  }

  /** Keeps the larger size: another stage may still have the earlier value. */
  #raise(name: string, size: number): void {
    this.#sizes.set(name, Math.max(this.#sizes.get(name) ?? 0, size))
  }
}
