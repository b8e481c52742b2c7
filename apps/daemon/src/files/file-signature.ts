import { AppError } from '@sandyard/kit/errors/app-error'
import { isSameText } from '@sandyard/kit/secrets/same-text'
import { createHash } from 'node:crypto'
import { pathArgument } from '../users/path-bytes.ts'

/** The credentials of a `/files` URL. Absent parameters are undefined. */
export interface FileAccess {
  readonly operation: 'read' | 'write'
  /** As sent: neither resolved nor defaulted. */
  readonly path: string | undefined
  readonly username: string | undefined
  readonly signature: string | undefined
  /** Unix seconds. */
  readonly expiration: bigint | undefined
  /** The header `X-Access-Token`. */
  readonly presentedToken: string | undefined
}

/** The signature that the holder of `token` puts into a URL (envd.md 3.3). */
export function fileSignature(access: Pick<FileAccess, 'operation' | 'path' | 'username' | 'expiration'>, token: string): string {
  const signed = [access.path ?? '', access.operation, access.username ?? '', token]
  if (access.expiration !== undefined) signed.push(String(access.expiration))
  return `v1_${createHash('sha256')
    .update(pathArgument(signed.join(':')))
    .digest('base64')
    .replace(/=+$/, '')}`
}

/**
 * Checks the credentials of a request for `/files`. A token in the header takes precedence over the signature, even if it is wrong.
 * A sandbox without a token accepts every request (envd.md 3.3).
 *
 * @throws AppError `unauthenticated`
 */
export function checkFileAccess(access: FileAccess, token: string | undefined, nowSeconds: number): void {
  if (token === undefined) return
  if (access.presentedToken !== undefined && access.presentedToken !== '') {
    if (isSameText(access.presentedToken, token)) return
    throw new AppError('unauthenticated', 'access token present in header but does not match')
  }
  if (access.signature === undefined) throw new AppError('unauthenticated', 'missing signature query parameter')
  if (!isSameText(access.signature, fileSignature(access, token))) throw new AppError('unauthenticated', 'invalid signature')
  if (access.expiration !== undefined && access.expiration < BigInt(Math.floor(nowSeconds))) {
    throw new AppError('unauthenticated', 'signature is already expired')
  }
}
