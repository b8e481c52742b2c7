import { expect, it } from 'vitest'
import { parseRfc3339 } from './rfc3339.ts'

it.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000Z'],
  ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456Z'],
  ['2026-01-02t03:04:05.5+02:00', '2026-01-02T01:04:05.500000Z'],
])('reads %s', (text, utc) => expect(parseRfc3339(text)).toBe(utc))

it.each([
  '',
  'now',
  '2026-01-02',
  '2026-01-02 03:04:05Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '0000-01-01T00:00:00Z',
])('refuses %j', (text) => expect(parseRfc3339(text)).toBeUndefined())
