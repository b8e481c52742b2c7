import { createHash, randomBytes } from 'node:crypto'

/** The prefixes of the two kinds of credentials that this server issues (control-plane.md 1.7). */
export const CREDENTIAL_PREFIXES = { apiKey: 'e2b_', accessToken: 'sk_e2b_' } as const
export type CredentialPrefix = (typeof CREDENTIAL_PREFIXES)[keyof typeof CREDENTIAL_PREFIXES]

const VALUE_BYTES = 20
const VALUE = /^[0-9a-f]{40}$/

/** The columns of a stored credential. */
export interface StoredCredential {
  readonly hash: string
  readonly prefix: CredentialPrefix
  readonly value_length: number
  readonly masked_value_prefix: string
  readonly masked_value_suffix: string
}

/** Creates a random credential: the raw text, which is shown once, and its stored form. */
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

/** The hash of a raw credential; undefined for text that this server cannot have issued. */
export function hashCredential(raw: string, prefix: CredentialPrefix): string | undefined {
  const value = raw.slice(prefix.length)
  return raw.startsWith(prefix) && VALUE.test(value) ? hashOf(value) : undefined
}

/** The values are 160 random bits, so a plain digest is enough: they cannot be guessed. */
function hashOf(value: string): string {
  const digest = createHash('sha256').update(Buffer.from(value, 'hex')).digest('base64')
  return `$sha256$${digest.replace(/=+$/, '')}`
}
