import { create, toJsonString } from '@bufbuild/protobuf'
import { ListDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { ListResponseSchema } from '@sandyard/daemon-protocol/process/process_pb'
import { describe, expect, it } from 'vitest'
import { jsonOptions, writeSizesAsNumbers } from './json-codec.ts'

describe('writeSizesAsNumbers', () => {
  const entry = (size: bigint) =>
    toJsonString(
      ListDirResponseSchema,
      create(ListDirResponseSchema, { entries: [{ name: '","size":"7","mode":1', size, mode: 420 }] }),
      jsonOptions,
    )

  it('changes the size of an entry and no text that looks like one', () => {
    expect(JSON.parse(writeSizesAsNumbers(entry(5n)))).toMatchObject({ entries: [{ name: '","size":"7","mode":1', size: 5 }] })
    expect(JSON.parse(writeSizesAsNumbers(entry(0n)))).toMatchObject({ entries: [{ size: 0, type: 'FILE_TYPE_UNSPECIFIED' }] })
  })

  it('keeps as text what a double cannot hold', () => {
    expect(JSON.parse(writeSizesAsNumbers(entry(2n ** 53n - 1n)))).toMatchObject({ entries: [{ size: Number.MAX_SAFE_INTEGER }] })
    expect(JSON.parse(writeSizesAsNumbers(entry(2n ** 53n)))).toMatchObject({ entries: [{ size: '9007199254740992' }] })
  })

  it('leaves maps of texts alone', () => {
    const config = { envs: { size: '5', mode: '420' } }
    const json = toJsonString(ListResponseSchema, create(ListResponseSchema, { processes: [{ config }] }), jsonOptions)
    expect(writeSizesAsNumbers(json)).toBe(json)
  })
})
