import { expect, it } from 'vitest'
import { deniesInternet } from './denies-internet.ts'
import type { StoredNetwork } from './schema/sandbox.ts'

it.each<[StoredNetwork, boolean | null, boolean]>([
  [{}, null, false],
  [{}, true, false],
  [{}, false, true],
  [{ denyInternet: true }, false, true],
  // An update without the flag.
  [{ denyInternet: false }, false, false],
  [{ denyOut: ['1.2.3.0/24'] }, null, false],
  [{ denyOut: ['1.2.3.0/24', '0.0.0.0/0'] }, true, true],
  [{ denyOut: ['0.0.0.0/0'], denyInternet: false }, true, true],
  [{ denyOut: ['::/0'] }, null, false],
  [{ denyOut: ['1.2.3.0/20'] }, null, false],
])('%j with allow_internet_access %j: %s', (network, flag, denies) => {
  expect(deniesInternet(network, flag)).toBe(denies)
})
