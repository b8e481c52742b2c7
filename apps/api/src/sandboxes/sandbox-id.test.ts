import { expect, it } from 'vitest'
import { newSandboxId, parseSandboxId } from './sandbox-id.ts'

it('generates ids that are one DNS label and parse to themselves', () => {
  const id = newSandboxId()
  expect(id).toMatch(/^i[a-z0-9]{20}$/)
  expect(parseSandboxId(id)).toBe(id)
})

it.each([
  ['i0abc-6532622b', 'i0abc'],
  ['i0abc-', 'i0abc'],
])('reads the legacy form %s', (value, id) => expect(parseSandboxId(value)).toBe(id))

it.each(['', '-', 'I0ABC', 'i0-a-b', 'i0/abc', 'i0 abc', 'ï'])('refuses %j', (value) => {
  expect(() => parseSandboxId(value)).toThrow('Invalid sandbox ID')
})
