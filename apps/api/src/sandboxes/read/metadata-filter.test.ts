import { describe, expect, it } from 'vitest'
import { parseMetadataFilter } from './metadata-filter.ts'

describe('parseMetadataFilter', () => {
  it('decodes the encoding of the SDKs for `a b`=`c&d`', () => {
    expect(parseMetadataFilter(decodeURIComponent('a%252520b%3Dc%252526d'))).toEqual({ 'a b': 'c&d' })
  })

  it.each([
    ['a=b', { a: 'b' }],
    ['a=b&c=d', { a: 'b', c: 'd' }],
    ['a=', { a: '' }],
    ['user%3Dabc%26app%3Dprod', { user: 'abc', app: 'prod' }],
  ])('reads %j', (text, filter) => expect(parseMetadataFilter(text)).toEqual(filter))

  it.each([
    ['', 'invalid key value pair'],
    ['a', 'invalid key value pair'],
    ['a=b=c', 'invalid key value pair'],
    ['a=b&', 'invalid key value pair'],
    ['a=%zz', 'invalid URL escape'],
    ['a=%2500', 'metadata never contains NUL'],
  ])('refuses %j', (text, detail) => {
    expect(() => parseMetadataFilter(text)).toThrow(`Error parsing metadata: error parsing metadata: ${detail}`)
  })
})
