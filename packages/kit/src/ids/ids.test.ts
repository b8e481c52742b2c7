import { expect, it } from 'vitest'
import { randomId } from './ids.ts'

it('mints ids of the asked length from [a-z0-9]', () => {
  const ids = new Set(Array.from({ length: 200 }, () => randomId(20)))
  expect(ids.size).toBe(200)
  for (const id of ids) expect(id).toMatch(/^[a-z0-9]{20}$/)
})
