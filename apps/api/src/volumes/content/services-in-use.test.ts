import { expect, it } from 'vitest'
import { ServicesInUse } from './services-in-use.ts'

const refused = expect.objectContaining({ kind: 'resource_exhausted' })

it('refuses one volume more of a team than its cap, and serves those in use and other teams', () => {
  const services = new ServicesInUse({ perTeam: 2, inAll: 10 })
  services.note('a', 'team', 0)
  services.note('b', 'team', 0)
  expect(() => services.note('c', 'team', 1)).toThrow(refused)
  services.note('a', 'team', 1)
  services.note('c', 'other', 1)
})

it('refuses one volume more than the cap of all', () => {
  const services = new ServicesInUse({ perTeam: 2, inAll: 2 })
  services.note('a', 'one', 0)
  services.note('b', 'two', 0)
  expect(() => services.note('c', 'three', 0)).toThrow(refused)
})

it('counts a volume until two minutes after its last use', () => {
  const services = new ServicesInUse({ perTeam: 1, inAll: 10 })
  services.note('a', 'team', 0)
  services.note('a', 'team', 100_000)
  expect(() => services.note('b', 'team', 219_999)).toThrow(refused)
  services.note('b', 'team', 220_000)
})
