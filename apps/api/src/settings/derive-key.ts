import { hkdfSync } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'

const KEY_BYTES = 32

/** Derives a key of the installation for one purpose. The seed and keys for other purposes cannot be computed from it. */
export function deriveKey(tokenSeed: Secret, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', tokenSeed.reveal(), '', `sandyard ${purpose}`, KEY_BYTES))
}
