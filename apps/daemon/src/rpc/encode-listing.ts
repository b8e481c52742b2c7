import { setImmediate as turn } from 'node:timers/promises'
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf'
import { ListDirResponseSchema } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import type { Codec } from './codec.ts'

/** Entries that are written in one turn of the event loop: a few milliseconds. */
const BATCH = 500
const [JSON_HEAD, JSON_TAIL, COMMA] = [Buffer.from('{"entries":['), Buffer.from(']}'), Buffer.from(',')]

type Listing = MessageInitShape<typeof ListDirResponseSchema>
type Entries = NonNullable<Listing['entries']>

/** The entries of an answer that is a long listing; undefined for all others, which are written at once. */
export function findLongListing(schema: DescMessage, message: MessageInitShape<DescMessage>): Entries | undefined {
  if (schema !== ListDirResponseSchema) return undefined
  const { entries = [] } = message as Listing
  return entries.length > BATCH ? entries : undefined
}

/** Writes a listing of any length without keeping other calls waiting: it is the only answer that has no bound. */
export async function encodeListing(codec: Codec, entries: Entries): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let at = 0; at < entries.length; at += BATCH) {
    const piece = codec.encode(ListDirResponseSchema, { entries: entries.slice(at, at + BATCH) })
    // Two binary messages in a row are one with the entries of both.
    if (codec.name === 'proto') pieces.push(piece)
    else pieces.push(at === 0 ? JSON_HEAD : COMMA, piece.subarray(JSON_HEAD.length, -JSON_TAIL.length))
    await turn()
  }
  if (codec.name === 'json') pieces.push(JSON_TAIL)
  return Buffer.concat(pieces)
}
