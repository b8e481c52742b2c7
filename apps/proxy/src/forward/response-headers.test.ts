import { describe, expect, it } from 'vitest'
import { parsedMessage } from '../../test/support/parsed-message.ts'
import { toPairs } from '../message/head.ts'
import { responseHeaders } from './response-headers.ts'

describe('response headers', () => {
  const raw = ['Connection', 'close', 'Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum', 'Set-Cookie', 'a', 'Set-Cookie', 'b', 'Date', 'd']

  it('keep repeated headers, and announce trailers only when they can be sent', () => {
    const kept: [string, string][] = [
      ['Set-Cookie', 'a'],
      ['Set-Cookie', 'b'],
      ['Date', 'd'],
    ]
    expect(toPairs(responseHeaders(parsedMessage('GET', raw), true))).toEqual([...kept, ['Trailer', 'X-Sum']])
    expect(toPairs(responseHeaders(parsedMessage('GET', raw), false))).toEqual(kept)
  })
})
