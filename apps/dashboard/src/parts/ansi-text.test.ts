import { expect, it } from 'vitest'
import { ansiParts, plainText } from './ansi-text.ts'

it('keeps the sixteen colours and bold', () => {
  expect(ansiParts('a \u001b[1;31merror\u001b[0m b')).toEqual([
    { text: 'a ', colour: undefined, isBold: false },
    { text: 'error', colour: 'red', isBold: true },
    { text: ' b', colour: undefined, isBold: false },
  ])
})

it('removes sequences that a terminal would obey', () => {
  expect(
    plainText('x\u001b]52;c;ZXZpbA==\u0007y\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\\u001b[2J\u001b[10;10Hz\u0008'),
  ).toBe('xylinkz')
})

it('skips the arguments of extended colours', () => {
  expect(ansiParts('\u001b[38;5;196mred\u001b[38;2;1;2;3mrgb\u001b[32mgreen')).toEqual([
    { text: 'red', colour: undefined, isBold: false },
    { text: 'rgb', colour: undefined, isBold: false },
    { text: 'green', colour: 'green', isBold: false },
  ])
})

it('keeps what a carriage return would overwrite', () => {
  expect(plainText('10%\r50%\r100%\r')).toBe('10% ␍ 50% ␍ 100%')
})
