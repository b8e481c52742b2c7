import { describe, expect, it } from 'vitest'
import { RequestFacts } from './request-facts.ts'

describe('the id of a request', () => {
  it.each(['a', '7f3c2a10-9d1e-4a55-8a6e-2f2f4e1c9b7d', 'Root=1-67891233-abc', 'x'.repeat(128)])('is taken over: %s', (id) => {
    expect(new RequestFacts({ header: id }).id).toBe(id)
  })

  it.each(['', 'x'.repeat(129), 'a b', 'a\nb', 'a"b', 'ä', '<a>', ['a', 'b'], undefined])('is made instead of %j', (header) => {
    const facts = new RequestFacts({ header })
    expect(facts.id).toMatch(/^[a-z0-9]{16}$/)
    expect(facts.id).toBe(facts.id)
    expect(new RequestFacts({ header }).id).not.toBe(facts.id)
  })
})
