import { describe, expect, it } from 'vitest'
import { expandText, splitWords } from './split-words.ts'

const lookup = (name: string): string | undefined =>
  new Map([
    ['A', 'one'],
    ['EMPTY', ''],
  ]).get(name)

describe('splitWords', () => {
  it.each([
    ['X=$A Y=${A}s', ['X=one', 'Y=ones']],
    [`X="a $A" Y='a $A' Z=a\\ b`, ['X=a one', 'Y=a $A', 'Z=a b']],
    ['X="${NO:-d e}" Y=${A:+set} Z=${NO:+set} W=${EMPTY:-f}', ['X=d e', 'Y=set', 'Z=', 'W=f']],
    ['X=\\$A Y="\\$A \\n"', ['X=$A', 'Y=$A \\n']],
    ['COST=$5x', ['COST=']],
  ])('reads %s', (text, words) => {
    expect(splitWords(text, lookup)).toEqual(words)
  })

  it('reads the label that the CLI writes', () => {
    const label = String.raw`devcontainer.metadata="[ {\"id\":\"./a\",\"x\":\"\\\"q\\\" \${HOME}\"} ]"`
    expect(splitWords(label, lookup)).toEqual([String.raw`devcontainer.metadata=[ {"id":"./a","x":"\"q\" ${'${HOME}'}"} ]`])
  })

  it('refuses other forms of variables and open quotes', () => {
    expect(() => splitWords('${A%x}', lookup)).toThrow('This form of a variable is not supported: ${A%x}')
    expect(() => splitWords('"a', lookup)).toThrow('A double quote is not closed: "a')
    expect(() => splitWords("'a", lookup)).toThrow("A single quote is not closed: 'a")
  })
})

describe('expandText', () => {
  it('keeps blanks', () => {
    expect(expandText('a  $A b', lookup)).toBe('a  one b')
  })
})
