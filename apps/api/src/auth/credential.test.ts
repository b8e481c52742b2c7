import { expect, it } from 'vitest'
import { hashCredential, issueCredential } from './credential.ts'

it('issues credentials in the form that clients accept, and does not store the raw value', () => {
  const { raw, stored } = issueCredential('e2b_')
  expect(raw).toMatch(/^e2b_[0-9a-f]{40}$/)
  expect(stored).toMatchObject({
    prefix: 'e2b_',
    value_length: 40,
    masked_value_prefix: raw.slice(4, 6),
    masked_value_suffix: raw.slice(-4),
    hash: hashCredential(raw, 'e2b_'),
  })
  expect(JSON.stringify(stored)).not.toContain(raw.slice(4))
})

it('stores the digest of the decoded bytes as base64 without padding', () => {
  expect(hashCredential('e2b_0000000000000000000000000000000000000000', 'e2b_')).toBe('$sha256$3kfJsn640wDbtfLDU+Yyw5MmLPBjQMT6fxtAxMvTb5A')
})

it.each(['e2b_', 'e2b_xyz', `e2b_${'A'.repeat(40)}`, `e2b_${'a'.repeat(39)}`, `sk_e2b_${'a'.repeat(40)}`])(
  'returns no hash for %s',
  (raw) => {
    expect(hashCredential(raw, 'e2b_')).toBeUndefined()
  },
)
