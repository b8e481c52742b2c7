import { stripVTControlCharacters } from 'node:util'
import type { ImageProgress } from '@sandyard/runtime-docker/images/image-progress'

interface Output {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const QUIET_MS = 15_000
const ERASE_LINE = '\r\u001B[K'

/**
 * What a person reads: a line for each step. What a tool prints on the way shows on one line that keeps changing; where there is no
 * terminal, every quarter of a minute, so that a log shows that the work goes on.
 */
export class Terminal implements ImageProgress {
  readonly #output: Output
  readonly #now: () => number
  #hasPassingLine = false
  #lastWriteAt: number

  constructor(output: Output, now: () => number = () => performance.now()) {
    this.#output = output
    this.#now = now
    this.#lastWriteAt = now()
  }

  say(line = ''): void {
    this.endPassingLine()
    this.#output.write(`${line}\n`)
    this.#lastWriteAt = this.#now()
  }

  step(line: string): void {
    this.say(`  ${line}`)
  }

  detail(line: string): void {
    const text = stripVTControlCharacters(line)
      .replaceAll(/[^\x20-\x7E]/g, ' ')
      .trim()
    if (this.#output.isTTY === true) {
      this.endPassingLine()
      this.#output.write(`    ${text}`.slice(0, (this.#output.columns ?? 80) - 1))
      this.#hasPassingLine = true
    } else if (this.#now() - this.#lastWriteAt >= QUIET_MS) {
      this.say(`    ... ${text}`)
    }
  }

  /** Takes away what shows in passing, before something else writes. */
  endPassingLine(): void {
    if (this.#hasPassingLine) this.#output.write(ERASE_LINE)
    this.#hasPassingLine = false
  }
}
