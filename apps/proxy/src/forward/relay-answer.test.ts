import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { toPairs } from '../message/head.ts'
import { responseHeaders } from './relay-answer.ts'

function message(method: string, raw: readonly string[]): IncomingMessage {
  const parsed = new IncomingMessage(new Socket())
  parsed.method = method
  parsed.rawHeaders = [...raw]
  for (const [name, value] of toPairs(raw)) {
    const lower = name.toLowerCase()
    const before = parsed.headers[lower]
    parsed.headers[lower] = before === undefined ? value : `${String(before)}, ${value}`
  }
  return parsed
}

describe('response headers', () => {
  const raw = ['Connection', 'close', 'Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum', 'Set-Cookie', 'a', 'Set-Cookie', 'b', 'Date', 'd']

  it('keep repeated headers, and announce trailers only when they can be sent', () => {
    const kept: [string, string][] = [
      ['Set-Cookie', 'a'],
      ['Set-Cookie', 'b'],
      ['Date', 'd'],
    ]
    expect(toPairs(responseHeaders(message('GET', raw), true))).toEqual([...kept, ['Trailer', 'X-Sum']])
    expect(toPairs(responseHeaders(message('GET', raw), false))).toEqual(kept)
  })
})
