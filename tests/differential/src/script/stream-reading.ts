import { createHash } from 'node:crypto'
import type { JsonValue } from '@bufbuild/protobuf'
import type { Reading } from '../compare/reading.ts'
import type { Call, Output } from './script.ts'

type Json = Readonly<Record<string, JsonValue>>

const OUTPUTS: readonly Output[] = ['stdout', 'stderr', 'pty']
const LONG = 2000

/** The events of a stream, without the borders of chunks and the order between the outputs. */
export function readEvents(reading: Reading, { isUnordered, endsByTime }: Call): Reading {
  if (!Array.isArray(reading.body)) return reading
  const messages = reading.body.map((frame) => (isJson(frame) ? frame['message'] : frame))
  const events = messages.map((message) => (isJson(message) && isJson(message['event']) ? message['event'] : undefined))
  const chunks = new Map<Output, Buffer[]>()
  const order: string[] = []
  const summary: Record<string, JsonValue> = {}
  for (const [index, event] of events.entries()) {
    const kind = event === undefined ? 'last' : (Object.keys(event)[0] ?? 'nothing')
    if (kind !== 'keepalive' && !(kind === 'data' && order.at(-1) === 'data')) order.push(kind)
    if (event === undefined) summary['last'] = messages[index] ?? null
    else if (kind === 'data') collect(event['data'], chunks)
    else if (kind !== 'keepalive') summary[kind] = event[kind] ?? null
  }
  const texts = [...chunks].map(([output, parts]) => [output, toText(Buffer.concat(parts), isUnordered === true)])
  const body = { order, ...summary, ...(Object.fromEntries(texts) as Json) }
  return { ...reading, body: endsByTime === true ? withoutEnding(body) : body }
}

/** The text of one output so far. */
export function outputOf(reading: Reading, output: Output): string {
  const body = readEvents(reading, { method: 'Start', message: {} }).body
  const text = isJson(body) ? body[output] : undefined
  return typeof text === 'string' ? text : ''
}

export function pidOf(reading: Reading): number | undefined {
  const body = readEvents(reading, { method: 'Start', message: {} }).body
  const start = isJson(body) ? body['start'] : undefined
  return isJson(start) && typeof start['pid'] === 'number' ? start['pid'] : undefined
}

export function isJson(value: JsonValue | undefined): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function collect(data: JsonValue | undefined, chunks: Map<Output, Buffer[]>): void {
  for (const output of OUTPUTS) {
    const bytes = isJson(data) ? data[output] : undefined
    if (typeof bytes !== 'string') continue
    const parts = chunks.get(output) ?? []
    parts.push(Buffer.from(bytes, 'base64'))
    chunks.set(output, parts)
  }
}

function toText(bytes: Buffer, isUnordered: boolean): string {
  if (isUnordered) return bytes.toString('latin1').split('\n').sort().join('\n')
  if (bytes.length > LONG) return `${bytes.length} bytes, SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`
  return bytes.toString('latin1')
}

/** A stream at its deadline ends with an error, or with the end of the process that the deadline has killed: removes both. */
function withoutEnding({ end, last, order, ...rest }: Readonly<Record<string, JsonValue>>): Json {
  const isKilled = JSON.stringify(end ?? null).includes('signal: killed')
  const isLate = JSON.stringify(last ?? null).includes('deadline_exceeded')
  if (!isKilled && !isLate) return { order: order ?? null, end: end ?? null, last: last ?? null, ...rest }
  return { ...rest, endedBy: 'its time' }
}
