import { describe, expect, it } from 'vitest'
import { parseHttpDate } from './http-date.ts'
import { checkPreconditions } from './preconditions.ts'

const mtime = 784_111_777
const at = 'Sun, 06 Nov 1994 08:49:37 GMT'
const before = 'Sun, 06 Nov 1994 08:49:36 GMT'
const after = 'Sun, 06 Nov 1994 08:49:38 GMT'

describe('parseHttpDate', () => {
  it.each([
    [at, mtime],
    ['Sunday, 06-Nov-94 08:49:37 GMT', mtime],
    ['Sun Nov  6 08:49:37 1994', mtime],
    ['Sunday, 06-Nov-68 08:49:37 GMT', 3_119_417_377],
    ['1994-11-06T08:49:37Z', undefined],
    ['Sun, 06 Nov 1994 08:49:37 +0000', undefined],
    ['Sun, 06 Foo 1994 08:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 25:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 8:49:37.5 GMT', mtime],
    ['Sun, 31 Feb 1994 08:49:37 GMT', undefined],
    ['', undefined],
  ])('%j: %s', (text, seconds) => {
    expect(parseHttpDate(text)).toBe(seconds)
  })
})

describe('checkPreconditions', () => {
  const headerOf = (headers: Record<string, string>) => (name: string) => headers[name] ?? ''

  it.each([
    [{}, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': '"a", *' }, 'proceed'],
    [{ 'if-match': '"a"' }, 'failed'],
    [{ 'if-match': 'W/"a" ,, *' }, 'proceed'],
    [{ 'if-match': 'a, *' }, 'failed'],
    [{ 'if-none-match': '"a"b, *' }, 'proceed'],
    [{ 'if-match': '*', 'if-unmodified-since': before }, 'proceed'],
    [{ 'if-unmodified-since': before }, 'failed'],
    [{ 'if-unmodified-since': at }, 'proceed'],
    [{ 'if-none-match': '*' }, 'not-modified'],
    [{ 'if-none-match': '"a"', 'if-modified-since': after }, 'proceed'],
    [{ 'if-modified-since': at }, 'not-modified'],
    [{ 'if-modified-since': before }, 'proceed'],
    [{ 'if-modified-since': '2100-01-01' }, 'proceed'],
    [{ 'if-range': at }, 'proceed'],
    [{ 'if-range': after }, 'full'],
    [{ 'if-range': '"a"' }, 'full'],
    [{ 'if-range': '' }, 'proceed'],
  ])('%j: %s (envd.md 18.24)', (headers, verdict) => {
    expect(checkPreconditions(headerOf(headers), mtime)).toBe(verdict)
  })

  it('compares only the date of a range to a file of the epoch', () => {
    expect(checkPreconditions(headerOf({ 'if-modified-since': after }), undefined)).toBe('proceed')
    expect(checkPreconditions(headerOf({ 'if-range': at }), undefined)).toBe('full')
    expect(checkPreconditions(headerOf({ 'if-range': 'Thu, 01 Jan 1970 00:00:00 GMT' }), undefined)).toBe('proceed')
  })
})
