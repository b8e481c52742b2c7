import { expect, it } from 'vitest'
import { bridgeName, containerName, refOf, sandboxLabels } from './labels.ts'

it('finds the sandbox of labels again, and none in those of others', () => {
  const labels = sandboxLabels('home', { sandboxId: 'i1', incarnation: 3 })
  expect(refOf(labels)).toEqual({ sandboxId: 'i1', incarnation: 3 })
  expect(refOf({ ...labels, 'sandyard.role': 'snapshot' })).toBeUndefined()
  expect(refOf({ ...labels, 'sandyard.sandbox-id': '' })).toBeUndefined()
  expect(refOf({ ...labels, 'sandyard.incarnation': 'x' })).toBeUndefined()
  expect(refOf({})).toBeUndefined()
})

it('gives every incarnation in every installation a name that tells nothing', () => {
  const names = ['home', 'work'].flatMap((installation) =>
    [1, 2].map((incarnation) => containerName(installation, { sandboxId: 'secretid', incarnation })),
  )
  expect(new Set(names).size).toBe(4)
  expect(names.join()).not.toContain('secretid')
  expect(containerName('home', { sandboxId: 'secretid', incarnation: 1 })).toBe(names[0])
})

it('names bridges as Linux wants them', () => {
  expect(bridgeName('a-long-name-of-an-installation')).toMatch(/^[a-z0-9-]{1,15}$/)
})
