import { createHash } from 'node:crypto'
import { sandboxAccessToken } from '@sandyard/db/sandbox-token'
import { TOKEN_SEED } from './memory-routes.ts'

export interface Signing {
  readonly path: string
  readonly operation?: 'read' | 'write'
  readonly expiration?: number | undefined
}

/** The path of a signed URL, as the SDKs make it (envd.md 3.3). */
export function signUrl(sandboxId: string, { path, operation = 'read', expiration }: Signing, seed = TOKEN_SEED): string {
  const token = sandboxAccessToken(seed, sandboxId)
  const text = [path, operation, 'user', token, ...(expiration === undefined ? [] : [expiration])].join(':')
  const query = new URLSearchParams({ path, username: 'user' })
  query.set('signature', `v1_${createHash('sha256').update(text).digest('base64').replace(/=+$/, '')}`)
  if (expiration !== undefined) query.set('signature_expiration', String(expiration))
  return `/files?${query.toString()}`
}
