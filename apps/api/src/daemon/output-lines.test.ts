import { describe, expect, it } from 'vitest'
import { OutputLines } from './output-lines.ts'

function linesOf(...chunks: (string | number[])[]): string[] {
  const lines: string[] = []
  const output = new OutputLines((line) => lines.push(line))
  for (const chunk of chunks) output.push(Buffer.from(chunk as string))
  output.end()
  return lines
}

describe('OutputLines', () => {
  it.each<[string, (string | number[])[], string[]]>([
    ['nothing', [], []],
    ['lines over chunks', ['one\ntw', 'o\n'], ['one', 'two']],
    ['an empty line, and a last one without its end', ['\nlast'], ['', 'last']],
    [
      'a character over chunks',
      [
        [0xe2, 0x82],
        [0xac, 0x0a],
      ],
      ['€'],
    ],
    ['half a character at the end', [[0x61, 0xe2]], ['a\uFFFD']],
    ['the ends of lines of Windows', ['one\r', '\ntwo\r\n'], ['one', 'two']],
    ['a progress bar', ['10%\r', '20%', '\r30%\ndone'], ['30%', 'done']],
    ['NUL', ['one\0two\n\0three\n'], ['one', 'two', 'three']],
  ])('%s', (_, chunks, expected) => {
    expect(linesOf(...chunks)).toEqual(expected)
  })

  it('splits a long line', () => {
    const lines = linesOf('x'.repeat(5000), `${'x'.repeat(5000)}\n`)
    expect(lines.map((line) => line.length)).toEqual([4096, 4096, 1808])
  })
})
