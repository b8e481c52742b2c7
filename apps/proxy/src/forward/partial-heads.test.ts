import { expect, it } from 'vitest'
import { PartialHeads } from './partial-heads.ts'

it('refuses a sandbox over its cap, and over the cap of all only sandboxes with more than the free bytes', () => {
  const heads = new PartialHeads({ maxBytes: 100, maxSandboxBytes: 60, freeBytes: 20 })
  expect([heads.add('a', 60), heads.add('a', 1)]).toEqual([undefined, 60])
  heads.release('a', 1)
  expect(heads.add('b', 30)).toBeUndefined()
  expect([heads.add('b', 11), heads.add('c', 20), heads.add('c', 1)]).toEqual([100, undefined, 100])
  heads.release('a', 60)
  expect(heads.add('b', 1)).toBeUndefined()
})
