import type { DockerfileLines } from './logical-lines.ts'

export type Escape = DockerfileLines['escape']

const NAME = /^[a-zA-Z_]\w*/
const BRACED = /^\{([a-zA-Z_]\w*)(?::([-+])([^{}$"'\\`]*))?\}/

/**
 * Replaces the variables of a text and removes quotes and escapes, as the engine's builder does for ENV and WORKDIR. Undefined for forms
 * that it may read differently: other operators than `:-` and `:+`, quotes that are not closed, and variables whose value is not known.
 */
export function expandWord(text: string, escape: Escape, lookup: (name: string) => string | undefined): string | undefined {
  let value = ''
  let quote = ''
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (quote === "'") {
      if (char === quote) quote = ''
      else value += char
    } else if (char === quote) {
      quote = ''
    } else if (char === escape) {
      const next = text.charAt(at + 1)
      // In double quotes an escape of another character stays.
      value += quote === '' || next === '"' || next === '$' || next === escape ? next : escape + next
      at += 1
    } else if (quote === '' && (char === '"' || char === "'")) {
      quote = char
    } else if (char === '$') {
      const found = readVariable(text.slice(at + 1), lookup)
      if (found === undefined) return undefined
      value += found.value
      at += found.length
    } else {
      value += char
    }
  }
  return quote === '' ? value : undefined
}

/** `text` is what follows the `$`. */
function readVariable(text: string, lookup: (name: string) => string | undefined): { value: string; length: number } | undefined {
  const [plain] = NAME.exec(text) ?? []
  if (plain !== undefined) {
    const value = lookup(plain)
    return value === undefined ? undefined : { value, length: plain.length }
  }
  const [whole, name, operator, word = ''] = BRACED.exec(text) ?? []
  const value = name === undefined ? undefined : lookup(name)
  if (whole === undefined || value === undefined) return undefined
  if (operator === '-') return { value: value === '' ? word : value, length: whole.length }
  if (operator === '+') return { value: value === '' ? '' : word, length: whole.length }
  return { value, length: whole.length }
}

/** Splits at spaces outside of quotes; quotes and escapes stay. */
export function splitWords(text: string, escape: Escape): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === escape && quote !== "'") {
      word += char + text.charAt(at + 1)
      at += 1
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else {
      if (quote === '' && (char === '"' || char === "'")) quote = char
      else if (char === quote) quote = ''
      word += char
    }
  }
  return word === '' ? words : [...words, word]
}
