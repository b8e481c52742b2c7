import { describe, expect, it } from 'vitest'
import { parsedMessage } from '../../test/support/parsed-message.ts'
import { toPairs } from '../message/head.ts'
import { upstreamHeaders } from './upstream-headers.ts'

function forwarded(method: string, raw: readonly string[], upgrade?: string): [string, string][] {
  return toPairs(upstreamHeaders(parsedMessage(method, raw), { authority: 'h:1', upgrade }))
}

const own: [string, string][] = [
  ['Host', 'h:1'],
  ['X-Forwarded-For', '10.0.0.9'],
  ['X-Forwarded-Host', 'h:1'],
  ['X-Forwarded-Proto', 'http'],
]

describe('request headers', () => {
  it('keep order, spelling, repeated headers and tokens', () => {
    const raw = [
      'Host',
      'h:1',
      'X-Access-Token',
      't',
      'cookie',
      'a=1',
      'COOKIE',
      'b=2',
      'e2b-traffic-access-token',
      'u',
      'E2b-Sandbox-Id',
      'i1',
    ]
    expect(forwarded('GET', raw)).toEqual([...toPairs(raw).slice(1), ...own])
  })

  it.each([
    [['Cookie', 'a=1; sandyard=s; b=2'], [['Cookie', 'a=1; b=2']]],
    [['cookie', '__Host-sandyard=s;c=3'], [['cookie', 'c=3']]],
    [['Cookie', 'sandyard=s'], []],
    [['Cookie', 'mysandyard=s; x=sandyard=1'], [['Cookie', 'mysandyard=s; x=sandyard=1']]],
  ])('lose the cookies of the dashboard: %j', (raw, expected) => {
    expect(forwarded('GET', raw)).toEqual([...expected, ...own])
  })

  it('drop the headers of the connection and the headers that `Connection` names', () => {
    const raw = [
      'Connection',
      'close, X-Hop',
      'X-Hop',
      '1',
      'Keep-Alive',
      'x',
      'Proxy-Authorization',
      'y',
      'TE',
      'gzip',
      'Upgrade',
      'h2c',
      'X-End',
      '2',
    ]
    expect(forwarded('GET', raw)).toEqual([['X-End', '2'], ...own])
  })

  it('keep host and length even when `Connection` names them', () => {
    const raw = ['Connection', 'content-length, host', 'Content-Length', '3']
    expect(forwarded('POST', raw)).toEqual([['Content-Length', '3'], ...own])
  })

  it('extend the forwarded headers of a front', () => {
    const raw = ['X-Forwarded-For', '1.2.3.4', 'X-Forwarded-Host', 'front', 'X-Forwarded-Proto', 'https']
    expect(Object.fromEntries(forwarded('GET', raw))).toEqual({
      Host: 'h:1',
      'X-Forwarded-For': '1.2.3.4, 10.0.0.9',
      'X-Forwarded-Host': 'front',
      'X-Forwarded-Proto': 'https',
    })
  })

  it.each([
    ['POST', [], ['Content-Length', '0']],
    ['PROPFIND', [], ['Content-Length', '0']],
    ['GET', [], undefined],
    ['DELETE', [], undefined],
    ['GET', ['Transfer-Encoding', 'chunked'], ['Transfer-Encoding', 'chunked']],
    ['POST', ['Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum'], ['Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum']],
    ['POST', ['Content-Length', '0', 'Trailer', 'X-Sum'], undefined],
    ['GET', ['TE', 'trailers, gzip'], ['TE', 'trailers']],
    ['GET', ['TE', 'x-trailers'], undefined],
  ])('frame %s %j', (method, raw, expected) => {
    const added = upstreamHeaders(parsedMessage(method, raw), { authority: 'h:1' })
    const tail = added.slice(added.indexOf('X-Forwarded-Proto') + 2)
    expect(tail).toEqual(expected ?? [])
  })

  it('mask the host, and keep the original one beside it (control-plane.md 18.7)', () => {
    const masked = toPairs(upstreamHeaders(parsedMessage('GET', ['Host', 'h:1']), { authority: 'h:1', maskHost: 'localhost:3000' }))
    expect(masked.slice(0, 3)).toEqual([['Host', 'localhost:3000'], own[1], ['X-Forwarded-Host', 'h:1']])
  })

  it('ask for the protocol of an upgrade', () => {
    const raw = ['Connection', 'Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Key', 'k']
    expect(forwarded('GET', raw, 'websocket')).toEqual([
      ['Sec-WebSocket-Key', 'k'],
      ...own,
      ['Connection', 'Upgrade'],
      ['Upgrade', 'websocket'],
    ])
  })
})
