import { posix } from 'node:path'
import { isKernelDirectory, NO_KERNEL_DIRECTORY } from '@sandyard/runtime/kernel-directory'
import { expandWord, splitWords, type Escape } from './expand-word.ts'
import { refused } from './refused.ts'

/** Undefined for a value that the engine may read differently. */
type Variables = Map<string, string | undefined>

export interface StageBase {
  /** As `NAME=value`. */
  readonly env: readonly string[]
  readonly workdir: string | undefined
}

/**
 * The variables and the working directory of a stage. The engine gets each WORKDIR as an absolute path without variables, so that the path
 * that was checked is the one that is used.
 */
export class StageContext {
  readonly #env: Variables
  readonly #args: Variables
  #workdir: string

  private constructor(env: Variables, args: Variables, workdir: string) {
    this.#env = env
    this.#args = args
    this.#workdir = workdir
  }

  static of({ env, workdir = '/' }: StageBase): StageContext {
    const pairs = env.map((entry) => [entry.split('=', 1)[0] ?? '', entry.slice(entry.indexOf('=') + 1)] as const)
    return new StageContext(new Map(pairs), new Map(), workdir)
  }

  /** A stage that starts from this one. It does not have its arguments. */
  fork(): StageContext {
    return new StageContext(new Map(this.#env), new Map(), this.#workdir)
  }

  /** Applies `ENV a=1 b="$a"` or `ENV a some words`: values do not see each other. */
  setEnv(rest: string, escape: Escape): void {
    const words = splitWords(rest, escape)
    const [first = ''] = words
    const isOldForm = !first.includes('=')
    const pairs = isOldForm ? [[first, rest.slice(rest.indexOf(first) + first.length).trim()] as const] : words.map(splitPair)
    const values = pairs.map(([name, value]) => [this.#expand(name, escape), this.#expand(value, escape)] as const)
    for (const [name, value] of values) if (name !== undefined) this.#env.set(name, value)
    // Any variable may have been set.
    if (values.some(([name]) => name === undefined)) for (const name of this.#env.keys()) this.#env.set(name, undefined)
  }

  /** Applies `ARG a=1 b`. An argument without a value has that of `globals`, from before the first FROM. */
  setArgs(rest: string, escape: Escape, globals: ReadonlyMap<string, string | undefined>): void {
    for (const word of splitWords(rest, escape)) {
      const [name, value] = splitPair(word)
      if (word.includes('=')) this.#args.set(name, this.#expand(value, escape))
      else if (globals.has(name)) this.#args.set(name, globals.get(name) ?? '')
    }
  }

  /**
   * The absolute path of a WORKDIR, for the text of the instruction.
   *
   * @throws AppError `failed_precondition` for a path in a tree of the kernel, and for forms of variables that are not supported
   */
  enter(rest: string, escape: Escape): string {
    const instruction = `WORKDIR ${rest}`
    const path = this.#expand(rest.trim(), escape)
    if (path === undefined) throw refused(instruction, 'it uses a form of variables or quotes that is not supported here')
    if (path === '') throw refused(instruction, 'the path is empty after the variables are replaced')
    const whole = posix.resolve('/', this.#workdir, path).replace(/^\/+/, '/')
    if (isKernelDirectory(whole)) throw refused(instruction, NO_KERNEL_DIRECTORY)
    if (/[\r\n]/.test(whole)) throw refused(instruction, 'the path has several lines')
    this.#workdir = whole
    return whole.replaceAll(/[\\`$"']/g, (char) => escape + char)
  }

  #expand(text: string, escape: Escape): string | undefined {
    return expandWord(text, escape, (name) =>
      this.#env.has(name) ? this.#env.get(name) : this.#args.has(name) ? this.#args.get(name) : '',
    )
  }
}

function splitPair(word: string): readonly [string, string] {
  const at = word.indexOf('=')
  return at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
}
