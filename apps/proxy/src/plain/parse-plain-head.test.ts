import { describe, expect, it } from 'vitest'
import { parsePlainHead } from './parse-plain-head.ts'

const MAX = 65_536
const head = (text: string): Buffer => Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')
const parse = (text: string): ReturnType<typeof parsePlainHead> => parsePlainHead(head(text), MAX)

describe('parsePlainHead', () => {
  it('reads a request without a body', () => {
    expect(parse('GET /a?b=%20c HTTP/1.1\nHost: x\nX-One:  a b\t \n\n')).toMatchObject({
      method: 'GET',
      url: '/a?b=%20c',
      headers: { host: 'x', 'x-one': 'a b' },
      rawHeaders: ['Host', 'x', 'X-One', 'a b'],
      contentLength: 0,
    })
  })

  it('reads the head of a request with a body, and says where the body begins', () => {
    const bytes = Buffer.concat([head('POST / HTTP/1.1\nhost: x\nContent-Length: 3\nConnection: Keep-Alive\n\n'), Buffer.from('abc')])
    const parsed = parsePlainHead(bytes, MAX)
    expect(parsed?.contentLength).toBe(3)
    expect(bytes.subarray(parsed?.length).toString()).toBe('abc')
  })

  it('reads the head of a request in chunks', () => {
    expect(parse('POST / HTTP/1.1\nhost: x\nTransfer-Encoding: Chunked\n\n')?.contentLength).toBe('chunked')
  })

  it('has no headers of the prototype of objects', () => {
    expect(parse('GET / HTTP/1.1\nHost: x\n__proto__: y\nconstructor: z\n\n')?.headers['constructor']).toBe('z')
  })

  it.each([
    ['', true],
    ['Connection: Keep-Alive\n', true],
    ['connection: Close\n', false],
  ])('says whether the connection goes on, with %j', (header, keepsAlive) => {
    expect(parse(`GET / HTTP/1.1\nHost: x\n${header}\n`)).toMatchObject({ keepsAlive })
  })

  it.each([
    ['that is not complete', 'GET / HTTP/1.1\nHost: x\n'],
    ['without a host', 'GET / HTTP/1.1\n\n'],
    ['with two hosts', 'GET / HTTP/1.1\nHost: x\nhost: y\n\n'],
    ['with a repeated header', 'GET / HTTP/1.1\nHost: x\na: 1\nA: 2\n\n'],
    ['of HTTP/1.0', 'GET / HTTP/1.0\nHost: x\n\n'],
    ['in absolute form', 'GET http://x/ HTTP/1.1\nHost: x\n\n'],
    ['with another method', 'CONNECT /x HTTP/1.1\nHost: x\n\n'],
    ['with HEAD', 'HEAD / HTTP/1.1\nHost: x\n\n'],
    ['with two codings', 'POST / HTTP/1.1\nHost: x\nTransfer-Encoding: gzip, chunked\n\n'],
    ['with another coding', 'POST / HTTP/1.1\nHost: x\nTransfer-Encoding: identity\n\n'],
    ['with chunks and a length', 'POST / HTTP/1.1\nHost: x\nContent-Length: 1\ntransfer-encoding: chunked\n\n'],
    ['that waits for 100', 'POST / HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: 1\n\n'],
    ['for another protocol', 'GET / HTTP/1.1\nHost: x\nConnection: Upgrade\nUpgrade: websocket\n\n'],
    ['that wants something else of its connection', 'GET / HTTP/1.1\nHost: x\nConnection: close, te\n\n'],
    ['with two lengths in one', 'POST / HTTP/1.1\nHost: x\nContent-Length: 1, 1\n\n'],
    ['with a signed length', 'POST / HTTP/1.1\nHost: x\nContent-Length: +1\n\n'],
    ['with an empty length', 'POST / HTTP/1.1\nHost: x\nContent-Length:\n\n'],
    ['with a blank before the colon', 'GET / HTTP/1.1\nHost : x\n\n'],
    ['with a folded header', 'GET / HTTP/1.1\nHost: x\na: 1\n b\n\n'],
    ['with two blanks in its first line', 'GET  / HTTP/1.1\nHost: x\n\n'],
    ['that begins with an empty line', '\nGET / HTTP/1.1\nHost: x\n\n'],
    ['with a control character', 'GET / HTTP/1.1\nHost: x\na: \u0001\n\n'],
    ['with a character above ASCII in its target', 'GET /\u00e4 HTTP/1.1\nHost: x\n\n'],
  ])('leaves a request %s', (_, text) => {
    expect(parse(text)).toBeUndefined()
  })

  it.each(['\n', '\r', '\0'])('leaves a head with %j inside of a line', (character) => {
    expect(parsePlainHead(Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\na: b${character}c: d\r\n\r\n`, 'latin1'), MAX)).toBeUndefined()
  })

  it('leaves a head over the cap', () => {
    const bytes = head('GET / HTTP/1.1\nHost: x\n\n')
    expect(parsePlainHead(bytes, bytes.length)).toBeDefined()
    expect(parsePlainHead(bytes, bytes.length - 1)).toBeUndefined()
  })
})
