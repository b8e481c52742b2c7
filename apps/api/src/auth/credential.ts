import { createHash, randomBytes } from 'node:crypto'

/** The two kinds of credential that this server issues, by their prefix (control-plane.md 1.7). */
export const CREDENTIAL_PREFIXES = { apiKey: 'e2b_', accessToken: 'sk_e2b_' } as const
export type CredentialPrefix = (typeof CREDENTIAL_PREFIXES)[keyof typeof CREDENTIAL_PREFIXES]

const VALUE_BYTES = 20
const VALUE = /^[0-9a-f]{40}$/

/** What is stored of a credential, column by column. */
export interface StoredCredential {
  readonly hash: string
  readonly prefix: CredentialPrefix
  readonly value_length: number
  readonly masked_value_prefix: string
  readonly masked_value_suffix: string
}

/** A new random credential: the raw text, to be shown once, and what is stored of it. */
export function issueCredential(prefix: CredentialPrefix): { raw: string; stored: StoredCredential } {
  const value = randomBytes(VALUE_BYTES).toString('hex')
  return {
    raw: `${prefix}${value}`,
    stored: {
      hash: hashOf(value),
      prefix,
      value_length: value.length,
      masked_value_prefix: value.slice(0, 2),
      masked_value_suffix: value.slice(-4),
    },
  }
}

/** The stored hash of a raw credential; undefined when what follows the prefix is not of the issued form. */
export function hashCredential(raw: string, prefix: CredentialPrefix): string | undefined {
  const value = raw.slice(prefix.length)
  return raw.startsWith(prefix) && VALUE.test(value) ? hashOf(value) : undefined
}

/** The values are 160 random bits, so a plain digest keeps them: there is nothing to guess. */
function hashOf(value: string): string {
  const digest = createHash('sha256').update(Buffer.from(value, 'hex')).digest('base64')
  return `$sha256$${digest.replace(/=+$/, '')}`
}
