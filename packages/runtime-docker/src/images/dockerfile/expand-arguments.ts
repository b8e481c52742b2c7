import { AppError } from '@sandyard/kit/errors/app-error'

const ASSIGNMENT = /^([a-zA-Z_]\w*)(?:=([^]*))?$/
const VARIABLE = /\$(?:\{([a-zA-Z_]\w*)(?::([-+])([^{}$]*))?\}|([a-zA-Z_]\w*))/g

/** The variables that FROM may use: those of ARG before the first FROM. */
export type GlobalArguments = Map<string, string | undefined>

/** Adds the variables of `ARG a=1 b="$a"` to `known`. */
export function addArguments(known: GlobalArguments, rest: string): void {
  for (const word of rest.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []) {
    const [, name, value] = ASSIGNMENT.exec(word) ?? []
    if (name !== undefined) known.set(name, value === undefined ? undefined : expandArguments(value, known))
  }
}

/**
 * Replaces the variables of a word and removes its quotes. `ExpansionBound` has limited the length of the result before.
 *
 * @throws AppError `failed_precondition` for forms of variables that are not `$a`, `${a}`, `${a:-word}` or `${a:+word}`
 */
export function expandArguments(word: string, known: GlobalArguments): string {
  const isLiteral = /^'[^']*'$/.test(word)
  const bare = word.replaceAll(/["']/g, '')
  if (isLiteral) return bare
  const expanded = bare.replaceAll(VARIABLE, (_, braced?: string, operator?: string, alternative = '', plain?: string) => {
    const value = known.get(braced ?? plain ?? '') ?? ''
    if (operator === '-') return value === '' ? alternative : value
    if (operator === '+') return value === '' ? '' : alternative
    return value
  })
  if (expanded.includes('$'))
    throw new AppError('failed_precondition', `'${word.slice(0, 200)}' uses a form of variables that is not supported here`)
  return expanded
}
