import './native-base64.ts'
import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire'
import { expect, it } from 'vitest'

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)

it('encodes as the protobuf library asks', () => {
  for (let length = 0; length < 256; length += 1) {
    const part = bytes.subarray(256 - length)
    expect(base64Encode(part)).toBe(Buffer.from(part).toString('base64'))
    expect(base64Encode(part, 'std_raw')).toBe(Buffer.from(part).toString('base64').replace(/=+$/, ''))
    expect(base64Encode(part, 'url')).toBe(Buffer.from(part).toString('base64url'))
  }
})

it('decodes every form that the wire accepts, and refuses the rest', () => {
  const text = Buffer.from(bytes).toString('base64')
  for (const form of [text, text.replace(/=+$/, ''), Buffer.from(bytes).toString('base64url'), ` ${text.slice(0, 9)}\n${text.slice(9)}`]) {
    expect(base64Decode(form)).toEqual(bytes)
  }
  expect(() => base64Decode('a*b=')).toThrow('invalid base64 string')
})
