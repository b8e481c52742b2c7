import { expect, it } from 'vitest'
import { isReply, isWebLink } from './replies.ts'

it('knows the answers of a terminal from what a person types', () => {
  expect(isReply('\u001b[?1;2c')).toBe(true)
  expect(isReply('\u001b[24;80R')).toBe(true)
  expect(isReply('\u001b]11;rgb:ffff/ffff/ffff\u001b\\')).toBe(true)
  expect(isReply('\u001bP1$r0m\u001b\\')).toBe(true)
  expect(isReply('ls\r')).toBe(false)
  expect(isReply('\u001b[A')).toBe(false)
  expect(isReply('\u001b')).toBe(false)
})

it('opens web addresses only', () => {
  expect(isWebLink('https://example.org/a')).toBe(true)
  expect(isWebLink('http://10.0.0.1:3000')).toBe(true)
  expect(isWebLink('javascript:alert(1)')).toBe(false)
  expect(isWebLink('file:///etc/passwd')).toBe(false)
  expect(isWebLink('x')).toBe(false)
})
