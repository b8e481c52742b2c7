const REFERENCE = /\$(?:(?<bare>[A-Za-z_]\w*)|\{(?<braced>[A-Za-z_]\w*)(?:(?<operator>:?[-+])(?<word>[^{}]*))?\})/g

/** What a variable holds; undefined for one that is not set. */
export type Lookup = (name: string) => string | undefined

/**
 * Puts in the values of `$NAME` and `${NAME}`, and of the forms that a Dockerfile has besides: `${NAME:-word}`, `${NAME:+word}` and
 * both without the colon. What is not set is nothing. All else stays as it is written: quotes, backslashes, back-ticks, `$(...)`
 * (control-plane.md 11.4).
 */
export function expandVariables(text: string, lookup: Lookup): string {
  return text.replaceAll(REFERENCE, (_, ...found: unknown[]) => {
    const { bare, braced, operator, word } = found.at(-1) as Record<'bare' | 'braced' | 'operator' | 'word', string | undefined>
    const value = lookup(bare ?? braced ?? '')
    if (operator === undefined) return value ?? ''
    const isSet = operator.startsWith(':') ? value !== undefined && value !== '' : value !== undefined
    const instead = expandVariables(word ?? '', lookup)
    return operator.endsWith('-') ? (isSet ? (value ?? '') : instead) : isSet ? instead : ''
  })
}

/** Whether any of the texts asks for the variable. */
export function refersTo(name: string, texts: readonly string[]): boolean {
  return texts.some((text) => {
    let isAsked = false
    expandVariables(text, (asked) => {
      isAsked ||= asked === name
      return undefined
    })
    return isAsked
  })
}
