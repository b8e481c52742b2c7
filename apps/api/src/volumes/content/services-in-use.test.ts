import { expect, it } from 'vitest'
import { ServicesInUse } from './services-in-use.ts'

const refused = expect.objectContaining({ kind: 'resource_exhausted' })

it('refuses one volume more of a team than its cap, and serves those in use and other teams', () => {
  const services = new ServicesInUse({ perTeam: 2, inAll: 10, requestsPerTeam: 100 })
  services.begin('a', 'team', 0)
  services.begin('b', 'team', 0)
  expect(() => services.begin('c', 'team', 1)).toThrow(refused)
  services.begin('a', 'team', 1)
  services.begin('c', 'other', 1)
})

it('refuses one volume more than the cap of all', () => {
  const services = new ServicesInUse({ perTeam: 2, inAll: 2, requestsPerTeam: 100 })
  services.begin('a', 'one', 0)
  services.begin('b', 'two', 0)
  expect(() => services.begin('c', 'three', 0)).toThrow(refused)
})

it('counts a volume until two minutes after its last request has ended', () => {
  const services = new ServicesInUse({ perTeam: 1, inAll: 10, requestsPerTeam: 100 })
  services.begin('a', 'team', 0)
  services.begin('a', 'team', 0)
  services.end('a', 100)
  expect(() => services.begin('b', 'team', 3_600_000)).toThrow(refused)
  services.end('a', 3_600_000)
  expect(() => services.begin('b', 'team', 3_719_999)).toThrow(refused)
  services.begin('b', 'team', 3_720_000)
})

it('refuses one request more of a team than its cap, and serves it when another has ended', () => {
  const services = new ServicesInUse({ perTeam: 10, inAll: 10, requestsPerTeam: 3 })
  for (const volumeId of ['a', 'a', 'b']) services.begin(volumeId, 'team', 0)
  for (const volumeId of ['a', 'c']) expect(() => services.begin(volumeId, 'team', 0)).toThrow(refused)
  services.begin('d', 'other', 0)
  services.end('b', 0)
  services.begin('c', 'team', 0)
  expect(() => services.begin('b', 'team', 0)).toThrow(refused)
})
