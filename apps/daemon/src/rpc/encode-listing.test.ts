import { FileType, ListDirResponseSchema, StatResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { describe, expect, it } from 'vitest'
import { jsonCodec, protoCodec } from './codec.ts'
import { encodeListing, findLongListing } from './encode-listing.ts'

const entries = Array.from({ length: 1201 }, (_, index) => ({
  name: `"]},${index}`,
  type: FileType.FILE,
  size: BigInt(index),
  metadata: { a: 'b' },
}))

describe('encodeListing', () => {
  it.each([jsonCodec, protoCodec])('writes in pieces what is written at once', async (codec) => {
    expect(await encodeListing(codec, entries)).toEqual(codec.encode(ListDirResponseSchema, { entries }))
  })

  it('is for long listings only', () => {
    expect(findLongListing(ListDirResponseSchema, { entries })).toBe(entries)
    expect(findLongListing(ListDirResponseSchema, { entries: entries.slice(0, 500) })).toBeUndefined()
    expect(findLongListing(StatResponseSchema, {})).toBeUndefined()
  })
})
