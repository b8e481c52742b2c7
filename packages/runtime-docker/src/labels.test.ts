import { expect, it } from 'vitest'
import { bridgeName, containerName, refOf, sandboxLabels } from './labels.ts'

it('reads a sandbox from its labels, and none from other labels', () => {
  const labels = sandboxLabels('home', { sandboxId: 'i1', incarnation: 3 })
  expect(refOf(labels)).toEqual({ sandboxId: 'i1', incarnation: 3 })
  expect(refOf({ ...labels, 'sandyard.role': 'snapshot' })).toBeUndefined()
  expect(refOf({ ...labels, 'sandyard.sandbox-id': '' })).toBeUndefined()
  expect(refOf({ ...labels, 'sandyard.incarnation': 'x' })).toBeUndefined()
  expect(refOf({})).toBeUndefined()
})

it('gives every incarnation a unique name that does not reveal its id', () => {
  const names = ['home', 'work'].flatMap((installation) =>
    [1, 2].map((incarnation) => containerName(installation, { sandboxId: 'secretid', incarnation })),
  )
  expect(new Set(names).size).toBe(4)
  expect(names.join()).not.toContain('secretid')
  expect(containerName('home', { sandboxId: 'secretid', incarnation: 1 })).toBe(names[0])
})

it('makes bridge names that Linux accepts', () => {
  expect(bridgeName('a-long-name-of-an-installation')).toMatch(/^[a-z0-9-]{1,15}$/)
})
