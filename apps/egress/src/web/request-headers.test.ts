import { expect, it } from 'vitest'
import { Secret } from '@sandyard/kit/config/secret'
import { endToEnd, framing, valuesOf, withRule } from './request-headers.ts'

it('leaves out the headers of one connection, also those that `Connection` names', () => {
  const headers = [
    'Host',
    'a',
    'Connection',
    'X-Hop, close',
    'x-hop',
    '1',
    'Keep-Alive',
    '5',
    'TE',
    'trailers',
    'Upgrade',
    'h2c',
    'Content-Length',
    '3',
    'Accept',
    '*/*',
  ]
  expect(endToEnd(headers, { connection: 'X-Hop, close' })).toEqual(['Host', 'a', 'Accept', '*/*'])
})

it('keeps the Host that a request was allowed by', () => {
  expect(endToEnd(['Host', 'a', 'X', 'y'], { connection: 'host, x' })).toEqual(['Host', 'a'])
})

it('replaces every header of a rule, whatever its spelling, and keeps what a rule may not set', () => {
  const rule = [
    { name: 'Authorization', value: new Secret('ours') },
    { name: 'Host', value: new Secret('evil') },
    { name: 'transfer-encoding', value: new Secret('chunked') },
    { name: 'Content-Length', value: new Secret('0') },
  ]
  expect(withRule(['Host', 'a', 'AUTHORIZATION', '1', 'authorization', '2', 'X', 'y'], rule)).toEqual([
    'Host',
    'a',
    'X',
    'y',
    'Authorization',
    'ours',
  ])
  expect(withRule(['Host', 'a'], undefined)).toEqual(['Host', 'a'])
})

it('frames a body as the parser has understood it', () => {
  expect(framing({ 'transfer-encoding': 'chunked' }, 'GET')).toEqual(['Transfer-Encoding', 'chunked'])
  expect(framing({ 'content-length': '5' }, 'POST')).toEqual(['Content-Length', '5'])
  expect(framing({}, 'POST')).toEqual(['Content-Length', '0'])
  expect(framing({}, 'GET')).toEqual([])
})

it('finds all values of a header', () => {
  expect(valuesOf(['Host', 'a', 'X', 'Host', 'hOST', 'b'], 'host')).toEqual(['a', 'b'])
})
