import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor } from './cursor.ts'

const last = { time: new Date('2026-01-02T03:04:05.678Z'), id: 'i0abc' }

describe('cursors', () => {
  it.each(['asc', 'desc'] as const)('survive a round trip %s', (order) => {
    expect(decodeCursor(encodeCursor(last, order), order)).toEqual({ time: '2026-01-02T03:04:05.678000Z', id: 'i0abc' })
  })

  it('have the form of control-plane.md 1.13', () => {
    expect(Buffer.from(encodeCursor(last, 'desc'), 'base64url').toString()).toBe('2026-01-02T03:04:05.678Z__i0abc')
    expect(Buffer.from(encodeCursor(last, 'asc'), 'base64url').toString()).toBe('2026-01-02T03:04:05.678Z__i0abc__asc')
    expect(encodeCursor(last, 'desc').length % 4).toBe(0)
  })

  it('are refused for the other direction', () => {
    expect(() => decodeCursor(encodeCursor(last, 'asc'), 'desc')).toThrow('Invalid next token')
    expect(() => decodeCursor(encodeCursor(last, 'desc'), 'asc')).toThrow('Invalid next token')
  })

  const YEAR_10000 = Buffer.from('9999-12-31T23:59:59-01:00__a').toString('base64url')

  it.each(['', '!!', YEAR_10000, 'aGVsbG8=', Buffer.from('2026-01-02T03:04:05Z__a__b__c').toString('base64url')])(
    'are refused as %j',
    (token) => {
      expect(() => decodeCursor(token, 'desc')).toThrow('Invalid next token')
    },
  )
})
