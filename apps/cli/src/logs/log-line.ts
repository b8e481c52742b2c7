import type { LogLevel } from '@sandyard/api-contract/builds/build-info'
import { type Output, printable } from '../output.ts'

export interface LogLine {
  readonly timestamp: string
  readonly level: string
  readonly message: string
  /** Further members, such as the step of a build. */
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface LogOptions {
  /** How many of the last lines; then the new ones when `follow` is set. */
  readonly lines: number
  readonly follow: boolean
  /** The least severe level. */
  readonly level?: LogLevel
}

export function printLine(output: Output, line: LogLine): void {
  output.item(line, () => {
    const { timestamp, level, message, fields = {} } = line
    const rest = Object.entries(fields).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    output.line(printable([timestamp, level.padEnd(5), message, ...rest].join(' ')))
  })
}

/** Passes on what is new in pages that begin with the last millisecond of the page before; within a millisecond lines keep their order. */
export class NewLines {
  #lastMs: number | undefined
  /** How many lines of the last millisecond it has passed on. */
  #atLastMs = 0

  /** Unix milliseconds from which the next page is asked for, inclusive. */
  get cursor(): number | undefined {
    return this.#lastMs
  }

  /** @param page - oldest first; `isFull` when there may be more behind it */
  take<T extends { readonly timestamp: string }>(page: readonly T[], isFull: boolean): T[] {
    const fresh: T[] = []
    let known = this.#atLastMs
    for (const line of page) {
      const ms = Date.parse(line.timestamp)
      if (ms === this.#lastMs && known > 0) {
        known -= 1
        continue
      }
      if (ms !== this.#lastMs) [this.#lastMs, this.#atLastMs, known] = [ms, 0, 0]
      this.#atLastMs += 1
      fresh.push(line)
    }
    // A whole page of one known millisecond: what is behind it can be reached only by passing over the rest of the millisecond.
    if (isFull && fresh.length === 0 && this.#lastMs !== undefined) [this.#lastMs, this.#atLastMs] = [this.#lastMs + 1, 0]
    return fresh
  }
}
