import { AppError } from '@sandyard/kit/errors/app-error'

export interface OptionSpec {
  /** All spellings, with their dashes. */
  readonly names: readonly string[]
  readonly takesValue: boolean
}

export interface ParsedOptions {
  has(name: string): boolean
  /** All values of a repeatable option, in their order. */
  all(name: string): readonly string[]
  last(name: string): string | undefined
  readonly words: readonly string[]
}

export interface CommandSpec {
  /** For messages, as the user wrote it: `docker run`. */
  readonly command: string
  readonly options: Readonly<Record<string, OptionSpec>>
  /** What follows the first word belongs to another command. */
  readonly stopsAtWord?: boolean
}

export const flag = (...names: string[]): OptionSpec => ({ names, takesValue: false })
export const value = (...names: string[]): OptionSpec => ({ names, takesValue: true })

/** An option that is not in the list is an error and never ignored: what it asks for would silently not happen. */
export function parseOptions({ command, options, stopsAtWord = false }: CommandSpec, args: readonly string[]): ParsedOptions {
  const given = new Map<string, string[]>()
  const words: string[] = []
  const rest = [...args]
  while (rest.length > 0) {
    const word = rest.shift() ?? ''
    if (word === '--') {
      words.push(...rest)
      break
    }
    if (!word.startsWith('-') || word === '-') {
      words.push(word)
      if (!stopsAtWord) continue
      words.push(...rest)
      break
    }
    const [spelling = '', ...afterEquals] = word.startsWith('--') ? word.split('=') : [word]
    const [name, spec] = Object.entries(options).find(([, { names }]) => names.includes(spelling)) ?? []
    if (name === undefined || spec === undefined) throw notSupported(command, spelling)
    let text: string | undefined = afterEquals.length > 0 ? afterEquals.join('=') : undefined
    if (spec.takesValue) text ??= rest.shift()
    else text ??= 'true'
    if (text === undefined) throw new AppError('invalid_argument', `${command}: the option ${spelling} needs a value`)
    given.set(name, [...(given.get(name) ?? []), text])
  }
  return {
    has: (name) => (given.get(name)?.at(-1) ?? 'false') !== 'false',
    all: (name) => given.get(name) ?? [],
    last: (name) => given.get(name)?.at(-1),
    words,
  }
}

function notSupported(command: string, option: string): AppError {
  return new AppError(
    'unimplemented',
    `${command}: the option ${option} is not supported. A dev container of this template is a root file system and its processes, ` +
      'not a container with namespaces, capabilities and limits of its own; look for the option in runArgs, build.options, capAdd, securityOpt, init or privileged ' +
      'of devcontainer.json and of its features',
  )
}

/** `KEY=value`; without `=` the value is that of the caller, as in Docker. */
export function parsePairs(command: string, pairs: readonly string[], environment: NodeJS.ProcessEnv = {}): Record<string, string> {
  const all: Record<string, string> = {}
  for (const pair of pairs) {
    const [, key, text] = /^([^=]+)(?:=([\s\S]*))?$/.exec(pair) ?? []
    if (key === undefined) throw new AppError('invalid_argument', `${command}: '${pair}' is not KEY=value`)
    const found = text ?? environment[key]
    if (found !== undefined) all[key] = found
  }
  return all
}
