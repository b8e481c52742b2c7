import { describe, expect, it } from 'vitest'
import { expandVariables, refersTo } from './expand-variables.ts'

const VALUES: Record<string, string> = { NAME: 'value', EMPTY: '', A_1: 'one', PATH: '/bin' }
const lookup = (name: string): string | undefined => VALUES[name]

describe('expandVariables', () => {
  it.each([
    ['plain', 'plain'],
    ['$NAME', 'value'],
    ['${NAME}', 'value'],
    ['/opt/$NAME/${A_1}x$PATH', '/opt/value/onex/bin'],
    ['$NAMELESS|$EMPTY|${GONE}', '||'],
    ['${GONE:-word} ${EMPTY:-word} ${EMPTY-word} ${NAME:-word}', 'word word  value'],
    ['${GONE:+word}|${EMPTY:+word}|${EMPTY+word}|${NAME:+word}', '||word|word'],
    ['${GONE:-$NAME}', 'value'],
    // Everything else is no reference.
    ['$(date) `date` "$NAME" \'$NAME\' \\$NAME', '$(date) `date` "value" \'value\' \\value'],
    ['$ $1 $$ ${} ${1} ${NAME', '$ $1 $$ ${} ${1} ${NAME'],
    ['100%$', '100%$'],
  ])('%s', (text, expected) => {
    expect(expandVariables(text, lookup)).toBe(expected)
  })

  it('puts a value in once: what a value looks like is not read again', () => {
    expect(expandVariables('$A', (name) => (name === 'A' ? '$B' : 'wrong'))).toBe('$B')
  })
})

describe('refersTo', () => {
  it.each([
    [['a', '$HOME/x'], true],
    [['${HOME:-y}'], true],
    [['${GONE:-$HOME}'], true],
    [['$HOMES', 'HOME', '\\'], false],
  ])('%j', (texts, expected) => {
    expect(refersTo('HOME', texts)).toBe(expected)
  })
})
