import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'
import { AppError } from '@sandyard/kit/errors/app-error'
import { deriveKey } from '../settings/derive-key.ts'

/** The archive that a link is for. */
export interface UploadKey {
  readonly teamId: string
  readonly hash: string
}

/** What a link carries beside the key. */
export interface LinkQuery {
  /** Unix seconds. */
  readonly expires: string
  readonly signature: string
}

/** control-plane.md 10.4. */
const VALID_SECONDS = 30 * 60
/** A signature has one spelling. */
const SIGNATURE = /^[0-9a-f]{64}$/

/** A path with query that lets whoever has it upload this one archive, for half an hour. */
export function signUploadLink(tokenSeed: Secret, key: UploadKey, now = Date.now()): string {
  const expires = String(Math.floor(now / 1000) + VALID_SECONDS)
  return `/uploads/${key.teamId}/${key.hash}?expires=${expires}&signature=${sign(tokenSeed, key, expires).toString('hex')}`
}

/** @throws AppError `permission_denied` for a link that was not made here or whose time is over */
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
