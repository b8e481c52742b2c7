import { expect, it } from 'vitest'
import { randomId } from './ids.ts'
import { isUuid, isUuidOrCompact } from './uuid.ts'

it('creates ids of the given length from [a-z0-9]', () => {
  const ids = new Set(Array.from({ length: 200 }, () => randomId(20)))
  expect(ids.size).toBe(200)
  for (const id of ids) expect(id).toMatch(/^[a-z0-9]{20}$/)
})

it('accepts UUIDs with hyphens, and compact UUIDs only where they are allowed', () => {
  const id = '6a3f0f53-2d23-4a8f-9f6d-0c6a3d6c1f11'
  expect([id, id.toUpperCase(), id.replaceAll('-', ''), `${id}0`, `${id}\n`, ''].map(isUuid)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  expect([id, id.replaceAll('-', ''), id.replace('-', '')].map(isUuidOrCompact)).toEqual([true, true, false])
})
