import { create, toJsonString } from '@bufbuild/protobuf'
import { Filesystem, ListDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'
import { describe, expect, it } from 'vitest'
import { jsonOptions } from './json-text.ts'

const listing = jsonOptions(Filesystem.method.listDir)
const stream = jsonOptions(Process.method.start)

describe('jsonOptions', () => {
  const write = (size: bigint): unknown => {
    const message = create(ListDirResponseSchema, { entries: [{ name: '","size":"7","mode":1', size, mode: 420 }] })
    return JSON.parse(Buffer.from(listing.textEncoder.encode(toJsonString(ListDirResponseSchema, message, listing))).toString())
  }

  it('writes the size of an entry as a number, and no text that looks like one', () => {
    expect(write(5n)).toMatchObject({ entries: [{ name: '","size":"7","mode":1', size: 5 }] })
    expect(write(0n)).toMatchObject({ entries: [{ size: 0, type: 'FILE_TYPE_UNSPECIFIED' }] })
  })

  it('keeps as text what a double cannot hold', () => {
    expect(write(2n ** 53n - 1n)).toMatchObject({ entries: [{ size: Number.MAX_SAFE_INTEGER }] })
    expect(write(2n ** 53n)).toMatchObject({ entries: [{ size: '9007199254740992' }] })
  })

  it('reads strict UTF-8, and no bytes as an empty message of a stream only', () => {
    expect(stream.textDecoder.decode(new Uint8Array())).toBe('{}')
    expect(listing.textDecoder.decode(new Uint8Array())).toBe('')
    expect(listing.textDecoder.decode(Buffer.from('\ufeff{}'))).toBe('\ufeff{}')
    expect(() => listing.textDecoder.decode(Buffer.of(0x7b, 0xff))).toThrow(TypeError)
  })
})
