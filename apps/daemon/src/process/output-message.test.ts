import { create, toBinary } from '@bufbuild/protobuf'
import { StartResponseSchema } from '@sandyard/daemon-protocol/process/process_pb'
import { expect, it } from 'vitest'
import { encodeOutput } from './output-message.ts'
import { toMessage } from './process-event.ts'

it.each([0, 1, 121, 122, 127, 128, 16_377, 16_384, 32_768, 3_000_000])('%d bytes are encoded as the library does', (length) => {
  const bytes = new Uint8Array(length).fill(7)
  for (const kind of ['stdout', 'stderr', 'pty'] as const) {
    const expected = toBinary(StartResponseSchema, create(StartResponseSchema, toMessage({ kind, bytes })))
    expect(encodeOutput(kind, bytes).equals(expected)).toBe(true)
  }
})
