import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { JSON_TYPE } from './error-reply.ts'

/** Items in one turn of the event loop. The largest items, sandboxes with 64 KiB of metadata, take a few milliseconds. */
const SLICE = 20

type Serialize = (items: readonly unknown[], status: string) => string

/**
 * The answer of an operation whose list is not paged. It is serialised in slices, and other requests get a turn of the event loop after each
 * slice. The returned value is the JSON text, which Fastify sends unchanged; it has the type of the items for the schema of the answer.
 */
export async function sendList<Row, Item>(reply: FastifyReply, rows: readonly Row[], toItem: (row: Row) => Item): Promise<Item[]> {
  const serialize = reply.serializeInput.bind(reply) as unknown as Serialize
  const parts: string[] = []
  for (let at = 0; at < rows.length; at += SLICE) {
    const slice = rows.slice(at, at + SLICE).map(toItem)
    parts.push(serialize(slice, '200').slice(1, -1))
    await nextTurn()
  }
  void reply.type(JSON_TYPE)
  return `[${parts.join(',')}]` as unknown as Item[]
}
