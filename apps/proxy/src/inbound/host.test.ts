import { describe, expect, it } from 'vitest'
import { isOwnHost, parseSandboxAddress, type AddressSource } from './host.ts'

const id = 'i1234567890abcdefghij'
const parse = (authority: string, idHeader?: string, portHeader?: string): unknown => {
  const source: AddressSource = { authority, idHeader, portHeader }
  return parseSandboxAddress(source, new Set(['proxy']))
}

describe('host form', () => {
  it.each([
    [`49983-${id}.localhost:3002`, 49_983],
    [`3000-${id}.sandboxes.example.com`, 3000],
    [`3000-${id}-6532622b.example.com`, 3000],
    [`3000-${id}-a-b-c.example.com`, 3000],
    [`1-${id}.x`, 1],
    [`65535-${id}.x`, 65_535],
    [`00080-${id}.x`, 80],
    [`3000-${id}.EXAMPLE.com`.toUpperCase(), 3000],
  ])('%s', (authority, port) => expect(parse(authority)).toEqual({ sandboxId: id, port }))

  it.each([
    ['', 'Invalid host'],
    ['example.com', 'Invalid host'],
    [`3000-${id}`, 'Invalid host'],
    [`3000-${id}:3002`, 'Invalid host'],
    ['.example.com', 'Invalid host'],
    ['3000-.example.com', 'Invalid sandbox ID'],
    ['3000-i_1.example.com', 'Invalid sandbox ID'],
    [`3000-${'i'.repeat(65)}.example.com`, 'Invalid sandbox ID'],
    [`-${id}.example.com`, 'Invalid sandbox port'],
    [`x-${id}.example.com`, 'Invalid sandbox port'],
    [`0-${id}.example.com`, 'Invalid sandbox port'],
    [`65536-${id}.example.com`, 'Invalid sandbox port'],
    [`123456-${id}.example.com`, 'Invalid sandbox port'],
    [`+80-${id}.example.com`, 'Invalid sandbox port'],
    [`1e3-${id}.example.com`, 'Invalid sandbox port'],
    [`0x50-${id}.example.com`, 'Invalid sandbox port'],
  ])('refuses "%s"', (authority, problem) => expect(parse(authority)).toBe(problem))
})

describe('header form', () => {
  it.each([
    'localhost',
    'LOCALHOST:3002',
    '127.0.0.1',
    '10.1.2.3:3002',
    '[::1]',
    '[fe80::1]:3002',
    '::1',
    'sandbox.example.com',
    'Sandbox.localhost:3002',
    'proxy:3002',
  ])('is used on %s', (authority) => {
    expect(parse(authority, id, '49983')).toEqual({ sandboxId: id, port: 49_983 })
    expect(parse(authority, id)).toContain('missing header')
    expect(parse(authority, undefined, '80')).toContain('missing header')
    expect(parse(authority, 'a-b', '80')).toBe('Invalid sandbox ID')
    expect(parse(authority, id, '0')).toBe('Invalid sandbox port')
    expect(parse(authority, id, '80, 81')).toBe('Invalid sandbox port')
  })

  it.each(['localhost', 'localhost:3002', '127.0.0.1:3002', '[::1]:3002', 'sandbox.example.com'])(
    'names no sandbox on %s when absent',
    (authority) => expect(parse(authority)).toBeUndefined(),
  )

  it.each(['example.com', 'nodot', 'sandboxes.example.com', 'localhost.example.com', '127.0.0.1.example.com', 'proxy.example.com'])(
    'is ignored on %s',
    (authority) => expect(parse(authority, id, '80')).toBe('Invalid host'),
  )

  it('is ignored when the host names a sandbox', () => {
    expect(parse('80-i1.example.com', id, '49983')).toEqual({ sandboxId: 'i1', port: 80 })
  })
})

it.each([
  ['localhost:3002', true],
  ['127.0.0.1', true],
  ['[::1]:3002', true],
  ['sandbox.example.com', false],
  ['example.com', false],
  ['', false],
])('isOwnHost(%s) is %s', (authority, expected) => expect(isOwnHost(authority)).toBe(expected))
