import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'
import type { RegistryCredentials } from '@sandyard/runtime/image-store'
import { deriveKey } from '../../settings/installation.ts'

const CIPHER = 'aes-256-gcm'
const PURPOSE = 'registry credentials'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Registry credentials as stored in the database: encrypted with a key of the installation and bound to their build, so that a dump of the
 * table or a copy of the row into another build does not reveal them.
 */
export function sealCredentials(tokenSeed: Secret, buildId: string, credentials: RegistryCredentials): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, deriveKey(tokenSeed, PURPOSE), nonce).setAAD(Buffer.from(buildId))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(credentials), 'utf8'), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()])
}

/** @throws Error when they were sealed for another build or by another installation */
export function unsealCredentials(tokenSeed: Secret, buildId: string, sealed: Buffer): RegistryCredentials {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, deriveKey(tokenSeed, PURPOSE), nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(buildId))
    .setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  return JSON.parse(text.toString()) as RegistryCredentials
}
