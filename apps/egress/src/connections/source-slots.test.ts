import { expect, it } from 'vitest'
import { SourceSlots } from './source-slots.ts'

it('caps pending and open connections of one source, without an effect on others', () => {
  const slots = new SourceSlots({ maxConnections: 6, maxSandboxConnections: 4, maxSandboxPending: 2 })
  const [a, b] = [slots.take('1'), slots.take('1')]
  expect(slots.take('1')).toBeUndefined()
  const other = slots.take('2')
  expect(other).toBeDefined()
  a?.settle()
  a?.settle()
  const c = slots.take('1')
  expect(c).toBeDefined()
  expect(slots.take('1')).toBeUndefined()
  b?.settle()
  c?.settle()
  const d = slots.take('1')
  expect(d).toBeDefined()
  d?.settle()
  expect(slots.take('1')).toBeUndefined()
  expect(slots.open).toBe(5)
  a?.[Symbol.dispose]()
  a?.[Symbol.dispose]()
  expect(slots.open).toBe(4)
  expect(slots.take('1')).toBeDefined()
  expect(slots.take('3')).toBeDefined()
  expect(slots.take('4')).toBeUndefined()
})
