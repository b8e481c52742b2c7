import { hkdfSync } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'

const KEY_BYTES = 32

/** A key of the installation for one purpose: it tells nothing of the seed and nothing of the keys for other purposes. */
export function deriveKey(tokenSeed: Secret, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', tokenSeed.reveal(), '', `sandyard ${purpose}`, KEY_BYTES))
}
