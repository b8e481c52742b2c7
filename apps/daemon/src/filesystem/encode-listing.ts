import { create, type MessageInitShape, toJsonString } from '@bufbuild/protobuf'
import { type EntryInfo, Filesystem, ListDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { setImmediate } from 'node:timers/promises'
import { referTo } from '../rpc/encoded-json.ts'
import { jsonOptions } from '../rpc/json-text.ts'

/** Entries that are encoded in one turn of the event loop: about 2 ms. */
const SLICE_ENTRIES = 500

const [OPENING, CLOSING] = ['{"entries":[', ']}']
const options = jsonOptions(Filesystem.method.listDir)

/**
 * A listing, encoded as JSON in turns if it is long. Binary messages take a seventh of the time and are encoded by the library.
 *
 * @param signal aborts when the client has disconnected
 */
export async function encodeListing(
  entries: EntryInfo[],
  mediaType: string | null,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof ListDirResponseSchema>> {
  if (entries.length <= SLICE_ENTRIES || mediaType?.includes('json') !== true) return { entries }
  const texts: Uint8Array[] = []
  for (let at = 0; at < entries.length; at += SLICE_ENTRIES) {
    const slice = create(ListDirResponseSchema, { entries: entries.slice(at, at + SLICE_ENTRIES) })
    const text = options.textEncoder.encode(toJsonString(ListDirResponseSchema, slice, options))
    texts.push(Buffer.from(texts.length === 0 ? OPENING : ','), text.subarray(OPENING.length, -CLOSING.length))
    await setImmediate()
    signal.throwIfAborted()
  }
  return { entries: [{ name: referTo(Buffer.concat([...texts, Buffer.from(CLOSING)])) }] }
}
