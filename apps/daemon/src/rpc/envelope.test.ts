import { describe, expect, it } from 'vitest'
import { envelope, EnvelopeReader } from './envelope.ts'

const stream = Buffer.concat([envelope(0, 'one'), envelope(1, Buffer.from('two')), envelope(0, ''), envelope(2, '{}')])

describe('EnvelopeReader', () => {
  it.each([1, 2, 3, 4, 5, 7, 8, 100])('takes a stream apart that comes %d bytes at a time', (size) => {
    const reader = new EnvelopeReader()
    const read: [number, string][] = []
    for (let at = 0; at < stream.length; at += size) {
      for (const { flags, payload } of reader.read(stream.subarray(at, at + size))) read.push([flags, payload.toString()])
    }
    reader.finish()
    expect(read).toEqual([
      [0, 'one'],
      [1, 'two'],
      [0, ''],
      [2, '{}'],
    ])
  })

  it.each([
    [4, 'protocol error: incomplete envelope: unexpected EOF'],
    [7, 'protocol error: promised 3 bytes in enveloped message, got 2 bytes'],
  ])('a stream of %d bytes is not whole', (length, message) => {
    const reader = new EnvelopeReader()
    expect(reader.read(stream.subarray(0, length))).toEqual([])
    expect(() => reader.finish()).toThrow(message)
  })

  it('keeps no more than a message may have, whatever one announces', () => {
    const reader = new EnvelopeReader()
    const megabyte = Buffer.alloc(1024 * 1024)
    reader.read(Buffer.from([0, 255, 255, 255, 255]))
    const readAll = () => Array.from({ length: 200 }, () => reader.read(megabyte))
    expect(readAll).toThrow('message size is larger than 134217728 bytes')
  })
})
