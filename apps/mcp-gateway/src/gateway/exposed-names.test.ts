import { expect, it } from 'vitest'
import { toExposed } from './exposed-names.ts'

const named = (...names: string[]): { name: string }[] => names.map((name) => ({ name }))

it('gives each tool a name that no other has', () => {
  const servers = [
    { name: 'a', tools: named('read', 'write') },
    { name: 'github/b/c.d', tools: named('read', 'read') },
    { name: 'e', tools: named('other') },
  ]
  const exposed = toExposed(servers, ({ tools }) => tools)
  expect([...exposed].map(([name, { server, item }]) => [name, server.name, item.name])).toEqual([
    ['read', 'a', 'read'],
    ['write', 'a', 'write'],
    ['github_b_c_d__read', 'github/b/c.d', 'read'],
    ['github_b_c_d__read_2', 'github/b/c.d', 'read'],
    ['other', 'e', 'other'],
  ])
})

it('keeps names that it makes within 64 characters', () => {
  const long = 'x'.repeat(64)
  const exposed = toExposed([{ name: 'a' }, { name: 'b' }, { name: 'b' }], () => named(long))
  expect([...exposed.keys()].map((name) => name.length)).toEqual([64, 64, 64 - 2])
  expect(exposed.size).toBe(3)
})
