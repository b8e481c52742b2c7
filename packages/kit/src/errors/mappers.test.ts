import { describe, expect, it } from 'vitest'
import { connectCode } from './connect-code.ts'
import { httpStatus } from './http-status.ts'
import { ERROR_KINDS } from './kinds.ts'

describe('error kinds', () => {
  it('map every kind to an HTTP error status', () => {
    for (const kind of ERROR_KINDS) expect(httpStatus(kind), kind).toBeGreaterThanOrEqual(400)
  })

  it('map every kind to a Connect code of the protocol', () => {
    for (const kind of ERROR_KINDS) expect(connectCode(kind), kind).toMatch(/^[a-z_]+$/)
  })

  it('keep the statuses that clients branch on', () => {
    expect([httpStatus('unauthenticated'), httpStatus('not_found'), httpStatus('conflict'), httpStatus('resource_exhausted')]).toEqual([
      401, 404, 409, 429,
    ])
  })
})
