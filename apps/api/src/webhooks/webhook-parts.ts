import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { webhooksAreOff } from './webhook-errors.ts'

/**
 * The keys that encrypt signing secrets.
 *
 * @throws AppError `unimplemented` when the operator has given none
 */
export function assertWebhooks({ keyRing }: { readonly keyRing: KeyRing | undefined }): KeyRing {
  if (keyRing === undefined) throw webhooksAreOff()
  return keyRing
}
