import { refused } from './refused.ts'

/** Of one instruction with the values of its variables. */
const MAX_INSTRUCTION_BYTES = 256 * 1024
/** Of all instructions together: the engine keeps their results in the image. */
const MAX_TOTAL_BYTES = 8 * 1024 ** 2

/** The instructions in which the engine's builder puts in the values of variables. */
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
 * How large the variables of a Dockerfile can become at most. The engine expands them in its own memory and without a limit, and a value that
 * doubles in each of thirty lines takes gigabytes. What is counted is never less than what the engine makes of it.
 */
export class ExpansionBound {
  readonly #sizes = new Map<string, number>()
  /** The least size of every variable, for assignments that the engine may read otherwise than they are read here. */
  #floor = 0
  #total = 0

  /** The variables that an image brings along, as `NAME=value`. */
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
      // Also `ENV NAME some words`.
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

  /** A stage may still have the former value. */
  #raise(name: string, size: number): void {
    this.#sizes.set(name, Math.max(this.#sizes.get(name) ?? 0, size))
  }
}
