import { expect, it } from 'vitest'
import { ExposedNames } from './exposed-names.ts'

const named = (...names: string[]): { name: string }[] => names.map((name) => ({ name }))

it('gives each tool a name that no other has', () => {
  const servers = [
    { name: 'a', tools: named('read', 'write') },
    { name: 'github/b/c.d', tools: named('read', 'read') },
    { name: 'e', tools: named('other') },
  ]
  const exposed = new ExposedNames().of(servers, ({ tools }) => tools)
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
  const exposed = new ExposedNames().of([{ name: 'a' }, { name: 'b' }, { name: 'b' }], () => named(long))
  expect([...exposed.keys()].map((name) => name.length)).toEqual([64, 64, 64])
  expect(exposed.size).toBe(3)
})

it('keeps the names of tools when servers come and go', () => {
  const names = new ExposedNames()
  const list = (...tools: string[][]): string[] => {
    const servers = tools.map((own, at) => ({ name: `server${at}`, tools: named(...own) }))
    return [...names.of(servers, ({ tools: own }) => own)].map(([name, { server }]) => `${name} of ${server.name}`)
  }
  expect(list([], ['read'])).toEqual(['read of server1'])
  expect(list(['read'], ['read'])).toEqual(['server0__read of server0', 'read of server1'])
  expect(list(['read'], [])).toEqual(['server0__read of server0'])
  expect(list(['read'], ['write', 'read'])).toEqual(['server0__read of server0', 'write of server1', 'read of server1'])
})

it('forgets names that are not listed beyond ten thousand', () => {
  const names = new ExposedNames()
  const list = (ofA: string, ofB: string): string[] => [
    ...names.of([{ name: 'a' }, { name: 'b' }], ({ name }) => named(name === 'a' ? ofA : ofB)).keys(),
  ]
  list('kept', 'tool0')
  expect(list('tool0', 'kept')).toEqual(['a__tool0', 'b__kept'])
  for (let at = 0; at < 10_001; at += 1) list('kept', `more${at}`)
  expect(list('tool0', 'last')).toEqual(['tool0', 'last'])
})
