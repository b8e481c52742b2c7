import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { Output, printable } from './output.ts'

function open(): { readonly output: Output; readonly stdout: () => string; readonly stderr: () => string } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const read = (stream: PassThrough) => (): string => ((stream.read() ?? '') as Buffer | string).toString()
  const output = new Output(stdout as unknown as NodeJS.WriteStream, stderr as unknown as NodeJS.WriteStream)
  return { output, stdout: read(stdout), stderr: read(stderr) }
}

describe('Output', () => {
  it('aligns columns and shows what is absent', () => {
    const { output, stdout } = open()
    output.table(
      ['A', 'LONG', 'C'],
      [
        ['wide one', 1, undefined],
        ['x', undefined, 'end'],
      ],
    )
    expect(stdout()).toBe('A         LONG  C\nwide one  1     -\nx         -     end\n')
  })

  it('passes no escape sequences of others to the terminal, on either stream', () => {
    const { output, stdout, stderr } = open()
    output.pairs([['name', '\u001B]0;title\u0007evil\u001B[2J\nrow\u009B31m']])
    output.say('first\nsecond \u001B[31mred\r')
    expect(stdout()).toBe('name  evil row\n')
    expect(stderr()).toBe('first\nsecond red \n')
  })

  it('prints one document or one line for each item as JSON', () => {
    const { output, stdout } = open()
    output.useJson(true)
    output.result({ a: [1] }, () => output.line('text'))
    output.item({ a: 1 }, () => output.line('text'))
    expect(stdout()).toBe('{\n  "a": [\n    1\n  ]\n}\n{"a":1}\n')
  })
})

it('printable keeps letters of all scripts', () => {
  expect(printable('日本 ünï 🙂')).toBe('日本 ünï 🙂')
})
