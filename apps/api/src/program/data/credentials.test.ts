import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findCredentials, keepCredentials } from './credentials.ts'

it('stores credentials for the owner only, and ignores an incomplete file', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'standalone-')), 'credentials')
  const raw = { apiKey: `e2b_${'ab'.repeat(20)}`, accessToken: `sk_e2b_${'cd'.repeat(20)}` }
  expect(findCredentials(file)).toBeUndefined()
  keepCredentials(file, raw)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const found = findCredentials(file)
  expect([found?.apiKey.reveal(), found?.accessToken.reveal()]).toEqual([raw.apiKey, raw.accessToken])
  writeFileSync(file, `E2B_API_KEY=${raw.apiKey}\n`)
  expect(findCredentials(file)).toBeUndefined()
})
