import type { CreatedAccessToken } from '@sandyard/api-contract/credentials/access-token'
import type { CreatedTeamApiKey, TeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import type { ApiKeyRow } from './api-key-rows.ts'
import type { IssuedAccessToken } from './create-access-token.ts'
import type { IssuedApiKey } from './create-api-key.ts'

type MaskRow = Pick<ApiKeyRow, 'prefix' | 'value_length' | 'masked_value_prefix' | 'masked_value_suffix'>

function toMask(row: MaskRow): TeamApiKey['mask'] {
  return {
    prefix: row.prefix,
    valueLength: row.value_length,
    maskedValuePrefix: row.masked_value_prefix,
    maskedValueSuffix: row.masked_value_suffix,
  }
}

export function toTeamApiKey(row: ApiKeyRow): TeamApiKey {
  const { user_id: id, user_email: email } = row
  return {
    id: row.id,
    name: row.name,
    mask: toMask(row),
    createdAt: row.created_at.toISOString(),
    createdBy: id === null || email === null ? null : { id, email },
    lastUsed: row.last_used_at?.toISOString() ?? null,
    ...(row.expires_at !== null && { expiresAt: row.expires_at.toISOString() }),
    ...(row.scope !== null && { scope: row.scope }),
  }
}

export function toCreatedApiKey({ row, key }: IssuedApiKey): CreatedTeamApiKey {
  return { ...toTeamApiKey(row), key }
}

export function toCreatedAccessToken({ row, token }: IssuedAccessToken): CreatedAccessToken {
  return {
    id: row.id,
    name: row.name,
    token,
    mask: toMask(row),
    createdAt: row.created_at.toISOString(),
    ...(row.expires_at !== null && { expiresAt: row.expires_at.toISOString() }),
  }
}
