import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import { deriveKey } from '../settings/installation.ts'

/** The key of an archive. */
export interface UploadKey {
  readonly teamId: string
  readonly hash: string
}

/** The other parts of a link. */
export interface LinkQuery {
  /** Unix seconds. */
  readonly expires: string
  readonly signature: string
}

/** Lifetime of a link (control-plane.md 10.4). */
const VALID_SECONDS = 30 * 60
/** The only accepted encoding of a signature. */
const SIGNATURE = /^[0-9a-f]{64}$/

/** A path with a query that allows the upload of one archive for half an hour, without other credentials. */
export function signUploadLink(tokenSeed: Secret, key: UploadKey, now = Date.now()): string {
  const expires = String(Math.floor(now / 1000) + VALID_SECONDS)
  return `/uploads/${key.teamId}/${key.hash}?expires=${expires}&signature=${sign(tokenSeed, key, expires).toString('hex')}`
}

/** @throws AppError `permission_denied` for a link with a wrong signature, or an expired one */
export function checkUploadLink(tokenSeed: Secret, key: UploadKey, { expires, signature }: LinkQuery): void {
  const wanted = sign(tokenSeed, key, expires)
  if (!SIGNATURE.test(signature) || !timingSafeEqual(Buffer.from(signature, 'hex'), wanted)) {
    throw new AppError('permission_denied', 'The upload link is not valid')
  }
  if (Number(expires) * 1000 < Date.now()) {
    throw new AppError('permission_denied', 'The upload link has expired: ask for the files of the template again')
  }
}

function sign(tokenSeed: Secret, { teamId, hash }: UploadKey, expires: string): Buffer {
  return createHmac('sha256', deriveKey(tokenSeed, 'upload links')).update(`PUT\n${teamId}\n${hash}\n${expires}`).digest()
}
