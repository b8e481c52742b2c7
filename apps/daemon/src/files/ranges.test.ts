import { describe, expect, it } from 'vitest'
import { contentRange, parseRanges } from './ranges.ts'

describe('parseRanges', () => {
  it.each([
    ['', []],
    ['bytes=0-3', [[0, 4]]],
    ['bytes=5-', [[5, 8]]],
    ['bytes=-3', [[10, 3]]],
    ['bytes=-300', [[0, 13]]],
    ['bytes=-0', [[13, 0]]],
    ['bytes=0-99', [[0, 13]]],
    ['bytes= 0 - 3 , ', [[0, 4]]],
    ['bytes=+1-+3', [[1, 3]]],
    [
      'bytes=0-1,4-5',
      [
        [0, 2],
        [4, 2],
      ],
    ],
    ['bytes=100-,0-1', [[0, 2]]],
    ['bytes=0-8,4-12', []],
    ['bytes=', []],
    ['bytes=100-', 'invalid range: failed to overlap'],
    ['bytes=100-,200-', 'invalid range: failed to overlap'],
    ['bytes=9223372036854775807-', 'invalid range: failed to overlap'],
    ['bytes=0-9223372036854775807', [[0, 13]]],
    ['bytes=0-9223372036854775808', 'invalid range'],
    ['bytes=20-x', 'invalid range: failed to overlap'],
    ['bytes=x', 'invalid range'],
    ['bytes=-', 'invalid range'],
    ['bytes=--3', 'invalid range'],
    ['bytes=5-2', 'invalid range'],
    ['bytes=0-1,x', 'invalid range'],
    ['lines=1-2', 'invalid range'],
  ])('%s of 13 bytes', (header, expected) => {
    const ranges = parseRanges(header, 13)
    expect(typeof ranges === 'string' ? ranges : ranges.map((range) => [range.start, range.length])).toEqual(expected)
  })

  it('ignores ranges of an empty file (envd.md 18.24)', () => {
    expect(parseRanges('bytes=0-3', 0)).toEqual([])
    expect(parseRanges('bytes=0-x', 0)).toEqual([])
    expect(parseRanges('bytes=x', 0)).toBe('invalid range')
  })

  it('formats the bytes of a range', () => {
    expect(contentRange({ start: 4, length: 2 }, 13)).toBe('bytes 4-5/13')
  })
})
