import { expect, it } from 'vitest'
import { storableText } from './storable-text.ts'

it.each([
  ['plain', 'plain'],
  ['a\0b', 'a\uFFFDb'],
  ['half \ud83d of one', 'half \uFFFD of one'],
  ['whole 😀', 'whole 😀'],
  ['x'.repeat(65_537), 'x'.repeat(65_536)],
  [`${'x'.repeat(65_534)}😀`, 'x'.repeat(65_534)],
  ['é'.repeat(40_000), 'é'.repeat(32_768)],
])('makes %j storable', (text, expected) => {
  expect(storableText(text)).toBe(expected)
})
