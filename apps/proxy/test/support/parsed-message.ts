import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { toPairs } from '../../src/message/head.ts'

/** A message of 10.0.0.9 with these headers (name, value, name, value), as Node's parser would pass it on. */
export function parsedMessage(method: string, raw: readonly string[]): IncomingMessage {
  const parsed = new IncomingMessage(Object.defineProperty(new Socket(), 'remoteAddress', { value: '::ffff:10.0.0.9' }))
  parsed.method = method
  parsed.rawHeaders = [...raw]
  for (const [name, value] of toPairs(raw)) {
    const lower = name.toLowerCase()
    const before = parsed.headers[lower]
    parsed.headers[lower] = before === undefined ? value : `${String(before)}, ${value}`
  }
  return parsed
}
