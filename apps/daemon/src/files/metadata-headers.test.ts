import { describe, expect, it } from 'vitest'
import { parseMetadataHeaders } from './metadata-headers.ts'

describe('parseMetadataHeaders', () => {
  it('lowers keys, takes the first of a repeated header and ignores an empty key', () => {
    const raw = [
      'Host',
      'x',
      'X-Metadata-Foo',
      'bar',
      'x-metadata-foo',
      'baz',
      'X-METADATA-b-C',
      'd e',
      'X-Metadata-',
      'q',
      'X-Metadata-e',
      '',
    ]
    expect([...parseMetadataHeaders(raw)]).toEqual([
      ['foo', 'bar'],
      ['b-c', 'd e'],
      ['e', ''],
    ])
  })

  it('accepts the largest key and the largest total', () => {
    expect(parseMetadataHeaders([`X-Metadata-${'k'.repeat(246)}`, 'v']).size).toBe(1)
    expect(parseMetadataHeaders(['X-Metadata-a', 'v'.repeat(4086)]).size).toBe(1)
  })

  it.each([
    [`X-Metadata-${'k'.repeat(247)}`, 'v', `metadata key "${'k'.repeat(247)}" exceeds 246 bytes`],
    ['X-Metadata-a', 'caf\xe9', 'metadata value for key "a" contains non-printable-ASCII byte 0xe9 at offset 3'],
    ['X-Metadata-a', 'a\tb', 'metadata value for key "a" contains non-printable-ASCII byte 0x09 at offset 1'],
    ['X-Metadata-a\x7f', 'b', 'metadata key contains non-printable-ASCII byte 0x7f at offset 1'],
    ['X-Metadata-a', 'v'.repeat(4087), 'total metadata size 4097 exceeds 4096 bytes'],
  ])('refuses %.20j', (name, value, reason) => {
    expect(() => parseMetadataHeaders([name, value])).toThrow(`invalid metadata: ${reason}`)
  })
})
