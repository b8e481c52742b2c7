import { describe, expect, it } from 'vitest'
import { parseHost, toPattern, toServerName } from './server-name.ts'
import { sniffHttp } from './sniff-http.ts'

describe('toServerName', () => {
  it.each([
    ['Api.Example.com', 'api.example.com'],
    ['api.example.com.', 'api.example.com'],
    ['_x-1.example', '_x-1.example'],
    ['localhost', 'localhost'],
    ['', undefined],
    ['.', undefined],
    ['a..b', undefined],
    ['a.b..', undefined],
    ['1.2.3.4', undefined],
    ['0x7f.1', undefined],
    ['example.0x1', undefined],
    ['::1', undefined],
    ['*.example.com', undefined],
    ['a b', undefined],
    [`${'a'.repeat(64)}.example`, undefined],
    [`${'a.'.repeat(126)}a`, `${'a.'.repeat(126)}a`],
    [`${'a.'.repeat(126)}aa`, undefined],
  ])('reads %j as %j', (text, name) => {
    expect(toServerName(text)).toBe(name)
  })
})

describe('parseHost', () => {
  it.each([
    ['Example.com', { name: 'example.com', port: undefined }],
    ['example.com:8080', { name: 'example.com', port: 8080 }],
    ['example.com:', undefined],
    ['example.com:80:80', undefined],
    ['user@example.com', undefined],
    ['example.com/x', undefined],
    ['example.com, other.com', undefined],
    ['1.2.3.4', undefined],
    ['[::1]', undefined],
    ['', undefined],
  ])('reads %j', (host, expected) => {
    expect(parseHost(host)).toEqual(expected)
  })
})

describe('toPattern', () => {
  it('is as names on the wire are', () => {
    expect(toPattern('Example.COM.')).toBe('example.com')
    expect(toPattern('*.Bücher.example')).toBe('*.xn--bcher-kva.example')
    expect(toPattern('*')).toBe('*')
  })
})

describe('sniffHttp', () => {
  it.each([
    ['', undefined],
    ['GE', undefined],
    ['\r\n', undefined],
    ['GET ', true],
    ['\r\nPOST /', true],
    ['PRI * HTTP/2.0', false],
    ['SSH-2.0-OpenSSH\r\n', false],
    ['\x16\x03\x01', false],
    [' GET /', false],
    ['A'.repeat(40), false],
  ])('reads %j as %j', (text, isHttp) => {
    expect(sniffHttp(Buffer.from(text, 'latin1'))).toBe(isHttp)
  })
})
