import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { UnopenedError } from '@sandyard/kit/secrets/key-ring'

interface SecretColumns {
  readonly key_id: string
  readonly sealed_secret: Buffer
}

/** Encrypts the signing secret of a webhook; a copy in the row of another webhook does not open. */
export function sealSecret(keyRing: KeyRing, webhookId: string, secret: string): SecretColumns {
  const { keyId, sealed } = keyRing.seal(placeOf(webhookId), secret)
  return { key_id: keyId, sealed_secret: sealed }
}

/** Undefined when no key of the operator opens it. */
export function openSecret(
  keyRing: KeyRing,
  webhookId: string,
  { key_id: keyId, sealed_secret: sealed }: SecretColumns,
): string | undefined {
  try {
    return keyRing.open(placeOf(webhookId), { keyId, sealed })
  } catch (err) {
    if (err instanceof UnopenedError) return undefined
    throw err
  }
}

function placeOf(webhookId: string): string {
  return `webhook ${webhookId}`
}
