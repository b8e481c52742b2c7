import { describe, expect, it } from 'vitest'
import { parseTags } from './parse-tags.ts'

describe('parseTags', () => {
  it('trims tags, lower-cases them and removes duplicates', () => {
    expect(parseTags([' V1.2 ', 'v1.2', 'latest', 'a_b-c'])).toEqual(['v1.2', 'latest', 'a_b-c'])
  })

  it.each([
    ['', 'Invalid tag: invalid tag: '],
    ['  ', 'Invalid tag: invalid tag: '],
    ['a b', 'Invalid tag: invalid tag: a b'],
    ['a:b', 'Invalid tag: invalid tag: a:b'],
    ['ä', 'Invalid tag: invalid tag: ä'],
    ['6A3F0F53-2d23-4a8f-9f6d-0c6a3d6c1f11', "Invalid tag: invalid tag '6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11': tag cannot be a UUID"],
    ['6a3f0f532d234a8f9f6d0c6a3d6c1f11', "Invalid tag: invalid tag '6a3f0f532d234a8f9f6d0c6a3d6c1f11': tag cannot be a UUID"],
  ])('refuses %j', (tag, message) => {
    expect(() => parseTags(['fine', tag])).toThrow(expect.objectContaining({ kind: 'invalid_argument', message }))
  })
})
