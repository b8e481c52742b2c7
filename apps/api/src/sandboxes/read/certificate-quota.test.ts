import { expect, it } from 'vitest'
import { CertificateQuota } from './certificate-quota.ts'

const HOUR_MS = 3_600_000

it('counts the new names of the last hour, of each sandbox and of all', () => {
  const quota = new CertificateQuota(10)
  for (let port = 1; port <= 8; port += 1) quota.take(`${port}-a.x`, 'a', port)
  expect(() => quota.take('9-a.x', 'a', 10)).toThrow('8 names')
  quota.take('8-a.x', 'a', 10)
  quota.take('1-b.x', 'b', 10)
  quota.take('1-c.x', 'c', 10)
  expect(() => quota.take('1-d.x', 'd', 10)).toThrow('SANDYARD_TLS_NAMES_PER_HOUR')
  quota.take('9-a.x', 'a', HOUR_MS + 1)
  expect(() => quota.take('10-a.x', 'a', HOUR_MS + 1)).toThrow('8 names')
})
