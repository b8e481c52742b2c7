import { expect, it } from 'vitest'
import { portOf, portUrl } from './port-url.ts'

it('makes the address of a port', () => {
  expect(portUrl('i1', 3000, { domain: 'localhost:3002', sandboxUrl: 'http://localhost:3002' })).toBe('http://3000-i1.localhost:3002/')
  expect(portUrl('i1', 80, { domain: 'example.org', sandboxUrl: 'https://sandbox.example.org' })).toBe('https://80-i1.example.org/')
})

it('reads port numbers only', () => {
  expect([portOf('80'), portOf(' 65535 '), portOf('0'), portOf('65536'), portOf('8a'), portOf('')]).toEqual([
    80,
    65_535,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
