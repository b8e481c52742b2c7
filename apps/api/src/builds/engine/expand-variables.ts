import { AppError } from '@sandyard/kit/errors/app-error'

const REFERENCE = /\$(?:(?<bare>[A-Za-z_]\w*)|\{(?<braced>[A-Za-z_]\w*)(?:(?<operator>:?[-+])(?<word>[^{}]*))?\})/g

/** Of one argument of a step after its variables are put in. No process takes an argument or a variable of twice the size. */
export const MAX_EXPANDED_BYTES = 64 * 1024

/** The value of a variable; undefined for one that is not set. */
export type Lookup = (name: string) => string | undefined

/**
 * Puts in the values of `$NAME` and `${NAME}`, and of the other forms of a Dockerfile: `${NAME:-word}`, `${NAME:+word}` and both without
 * the colon. A variable that is not set becomes nothing. Everything else stays as it is written: quotes, backslashes, back-ticks, `$(...)`
 * (control-plane.md 11.4).
 *
 * @throws AppError `failed_precondition` as soon as the text becomes too long, before it takes the memory
 */
export function expandVariables(text: string, lookup: Lookup): string {
  let added = Buffer.byteLength(text)
  const count = (value: string): string => {
    added += Buffer.byteLength(value)
    if (added > MAX_EXPANDED_BYTES) throw tooLong()
    return value
  }
  if (added > MAX_EXPANDED_BYTES) throw tooLong()
  return text.replaceAll(REFERENCE, (_, ...found: unknown[]) => {
    const { bare, braced, operator, word = '' } = found.at(-1) as Record<'bare' | 'braced' | 'operator' | 'word', string | undefined>
    const value = lookup(bare ?? braced ?? '')
    if (operator === undefined) return count(value ?? '')
    const isSet = operator.startsWith(':') ? value !== undefined && value !== '' : value !== undefined
    const takesWord = operator.endsWith('-') ? !isSet : isSet
    if (takesWord) return count(expandVariables(word, lookup))
    return operator.endsWith('-') ? count(value ?? '') : ''
  })
}

/** Whether any of the texts may ask for the variable. */
export function refersTo(name: string, texts: readonly string[]): boolean {
  return texts.some((text) => {
    for (const match of text.matchAll(REFERENCE)) {
      const { bare, braced, word = '' } = match.groups ?? {}
      if ((bare ?? braced) === name || refersTo(name, [word])) return true
    }
    return false
  })
}

function tooLong(): AppError {
  return new AppError('failed_precondition', `an argument has more than ${MAX_EXPANDED_BYTES / 1024} KiB with the values of its variables`)
}
