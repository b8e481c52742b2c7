import { AppError } from '@sandyard/kit/errors/app-error'

export type Lookup = (name: string) => string | undefined

/** Splits at blanks, takes quotes away and puts in variables, by the rules of Docker for ENV, LABEL, ARG, COPY and others. */
export function splitWords(text: string, lookup: Lookup): string[] {
  return new WordReader(text, lookup).words()
}

/** The whole text as one word: blanks outside of quotes stay. */
export function expandText(text: string, lookup: Lookup): string {
  return new WordReader(text, lookup).whole()
}

class WordReader {
  #at = 0
  readonly #text: string
  readonly #lookup: Lookup

  constructor(text: string, lookup: Lookup) {
    this.#text = text
    this.#lookup = lookup
  }

  words(): string[] {
    const words: string[] = []
    for (;;) {
      while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
      if (this.#at >= this.#text.length) return words
      words.push(this.#word((character) => /\s/.test(character)))
    }
  }

  whole(): string {
    return this.#word(() => false)
  }

  #word(isEnd: (character: string) => boolean): string {
    let word = ''
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? ''
      if (isEnd(character)) break
      if (character === "'") word += this.#singleQuoted()
      else if (character === '"') word += this.#doubleQuoted()
      else if (character === '$') word += this.#variable()
      else if (character === '\\') {
        word += this.#text[this.#at + 1] ?? ''
        this.#at += 2
      } else {
        word += character
        this.#at++
      }
    }
    return word
  }

  #singleQuoted(): string {
    const end = this.#text.indexOf("'", this.#at + 1)
    if (end < 0) throw new AppError('invalid_argument', `A single quote is not closed: ${this.#text.slice(this.#at, this.#at + 40)}`)
    const inner = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    return inner
  }

  #doubleQuoted(): string {
    const start = this.#at++
    let inner = ''
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? ''
      if (character === '"') {
        this.#at++
        return inner
      }
      if (character === '$') inner += this.#variable()
      else if (character === '\\' && /["$\\]/.test(this.#text[this.#at + 1] ?? '')) {
        inner += this.#text[this.#at + 1] ?? ''
        this.#at += 2
      } else {
        inner += character
        this.#at++
      }
    }
    throw new AppError('invalid_argument', `A double quote is not closed: ${this.#text.slice(start, start + 40)}`)
  }

  /** `$NAME`, `${NAME}`, `${NAME:-word}`, `${NAME:+word}`. */
  #variable(): string {
    const rest = this.#text.slice(this.#at)
    const [plain, name] = /^\$(\w+)/.exec(rest) ?? []
    if (plain !== undefined && name !== undefined) {
      this.#at += plain.length
      return this.#lookup(name) ?? ''
    }
    const [opening, braced, operator] = /^\$\{(\w+)(:[-+])?/.exec(rest) ?? []
    if (opening === undefined || braced === undefined) {
      if (rest.startsWith('${')) throw new AppError('unimplemented', `This form of a variable is not supported: ${rest.slice(0, 40)}`)
      this.#at++
      return '$'
    }
    this.#at += opening.length
    const word = operator === undefined ? '' : this.#word((character) => character === '}')
    if (this.#text[this.#at] !== '}') throw new AppError('unimplemented', `This form of a variable is not supported: ${rest.slice(0, 40)}`)
    this.#at++
    const found = this.#lookup(braced)
    const isSet = found !== undefined && found !== ''
    if (operator === ':+') return isSet ? word : ''
    return operator === ':-' && !isSet ? word : (found ?? '')
  }
}
