import { create, toJsonString } from '@bufbuild/protobuf'
import { EntryInfoSchema, Filesystem, ListDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { expect, it } from 'vitest'
import { jsonOptions } from '../rpc/json-text.ts'
import { encodeListing } from './encode-listing.ts'

const NEVER = new AbortController().signal
const options = jsonOptions(Filesystem.method.listDir)
const entries = (count: number) =>
  Array.from({ length: count }, (_, index) => create(EntryInfoSchema, { name: `é-${index}`, size: BigInt(index) }))

/** The bytes that the library sends for a result of the handler. */
const send = (result: Awaited<ReturnType<typeof encodeListing>>): string =>
  Buffer.from(options.textEncoder.encode(toJsonString(ListDirResponseSchema, create(ListDirResponseSchema, result), options))).toString()

it.each([0, 1, 500, 501, 5000])('encodes %i entries like the library', async (count) => {
  const json = send(await encodeListing(entries(count), 'application/json', NEVER))
  expect(json).toBe(send({ entries: entries(count) }))
  expect((JSON.parse(json) as { entries: unknown[] }).entries).toHaveLength(count)
})

it('lets the event loop run between slices', async () => {
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  await encodeListing(entries(5000), 'application/json', NEVER)
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(9)
})

it('leaves binary messages to the library', async () => {
  const listing = entries(501)
  expect(await encodeListing(listing, 'application/proto', NEVER)).toEqual({ entries: listing })
})

it('ends when the client has disconnected', async () => {
  await expect(encodeListing(entries(5000), 'application/json', AbortSignal.abort('gone'))).rejects.toBe('gone')
})
