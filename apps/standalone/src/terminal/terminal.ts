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
 * Prints one line for each step. The output of tools is shown on a single line that is overwritten; without a
 * terminal a line is printed every 15 s, so that a log shows that the work continues.
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

  /** Removes the overwritten line before something else is printed. */
  endPassingLine(): void {
    if (this.#hasPassingLine) this.#output.write(ERASE_LINE)
    this.#hasPassingLine = false
  }
}
