import type { EngineNews } from '../../engine/follow-answer.ts'

export interface BuilderOutputOptions {
  /** What to show for each step, in the builder's order; undefined for a step that is not shown. */
  readonly shown: readonly (string | undefined)[]
  readonly onLine: (line: string) => void
}

const BUILDER_LINES =
  /^ ---> (?:(?:Running in )?[0-9a-f]{12})?$|^ ---> Using cache$|^Removing intermediate container [0-9a-f]{12}$|^Successfully (?:built [0-9a-f]{12}|tagged sandyard\/\S+)$/
// oxlint-disable-next-line no-control-regex -- the builder colours standard error
const COLOUR = /\u001B\[91m|\u001B\[0m/g
/** A step that prints without line breaks must not fill the memory. */
const MAX_LINE_CHARS = 64 * 1024

/** Converts the builder's output to lines for the user: the output of the steps, and the steps as written in the user's file. */
export class BuilderOutput {
  readonly #options: BuilderOutputOptions
  readonly #total: number
  #pending = ''
  #step = 0
  #shownSteps = 0

  constructor(options: BuilderOutputOptions) {
    this.#options = options
    this.#total = options.shown.filter((text) => text !== undefined).length
  }

  add({ stream = '' }: EngineNews): void {
    const [...lines] = (this.#pending + stream.replaceAll(COLOUR, '')).split('\n')
    this.#pending = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
    if (this.#pending.length > MAX_LINE_CHARS) this.end()
  }

  /** Reports the last line if it had no line break. */
  end(): void {
    const rest = this.#pending
    this.#pending = ''
    if (rest !== '') this.#line(rest)
  }

  #line(text: string): void {
    const line = text.replace(/\r$/, '')
    const { shown: steps } = this.#options
    if (this.#step < steps.length && line.startsWith(`Step ${this.#step + 1}/${steps.length} : `)) {
      const shown = steps[this.#step]
      this.#step += 1
      if (shown === undefined) return
      this.#shownSteps += 1
      this.#options.onLine(`Step ${this.#shownSteps}/${this.#total} : ${shown}`)
    } else if (line !== '' && !BUILDER_LINES.test(line)) {
      this.#options.onLine(line)
    }
  }
}
