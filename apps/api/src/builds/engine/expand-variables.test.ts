import { describe, expect, it } from 'vitest'
import { expandVariables, MAX_EXPANDED_BYTES, refersTo } from './expand-variables.ts'

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

  it('inserts values without expanding them again', () => {
    expect(expandVariables('$A', (name) => (name === 'A' ? '$B' : 'wrong'))).toBe('$B')
  })
})

describe('the size of expanded text', () => {
  it('is limited, also when a value doubles repeatedly', () => {
    let value = 'x'
    const double = (): string => expandVariables('$V$V', () => value)
    while (value.length < MAX_EXPANDED_BYTES / 4) value = double()
    expect(double()).toHaveLength(MAX_EXPANDED_BYTES / 2)
    value = 'x'.repeat(MAX_EXPANDED_BYTES - 1)
    expect(double).toThrow(expect.objectContaining({ kind: 'failed_precondition', message: expect.stringContaining('more than 64 KiB') }))
  })

  it.each([
    '$V'.repeat(4_000_000),
    '${GONE:-$V$V$V}'.repeat(1000),
    'x'.repeat(MAX_EXPANDED_BYTES + 1),
    'é'.repeat(MAX_EXPANDED_BYTES / 2 + 1),
  ])('refuses a text before it takes the memory', (text) => {
    expect(() => expandVariables(text, (name) => (name === 'V' ? 'x'.repeat(60_000) : undefined))).toThrow('more than 64 KiB')
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
