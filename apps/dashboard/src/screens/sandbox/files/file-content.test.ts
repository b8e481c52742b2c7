import { expect, it } from 'vitest'
import { contentOf, lineSeparator } from './file-content.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0))

it('knows images by their first bytes', () => {
  expect(contentOf(bytes('\u0089PNG\r\n\u001a\nrest'))).toEqual({ kind: 'image', type: 'image/png' })
  expect(contentOf(bytes('RIFF....WEBPVP8 '))).toEqual({ kind: 'image', type: 'image/webp' })
})

it('reads SVG and HTML as text', () => {
  expect(contentOf(bytes('<svg onload="alert(1)">')).kind).toBe('text')
})

it('reads UTF-8 as text with its mark, and other bytes as binary', () => {
  expect(contentOf(new TextEncoder().encode('\uFEFFgrüße'))).toEqual({ kind: 'text', text: '\uFEFFgrüße' })
  expect(contentOf(Uint8Array.of(0x61, 0x00, 0x62))).toEqual({ kind: 'binary' })
  expect(contentOf(Uint8Array.of(0x61, 0xff))).toEqual({ kind: 'binary' })
})

it('keeps the separator of lines', () => {
  expect(lineSeparator('a\r\nb\r\n')).toBe('\r\n')
  expect(lineSeparator('a\r\nb\n')).toBe('\n')
  expect(lineSeparator('a')).toBe('\n')
})
