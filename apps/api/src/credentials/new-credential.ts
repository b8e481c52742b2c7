import { AppError } from '@sandyard/kit/errors/app-error'
import { checkStorable } from '../builds/start/check-storable.ts'

/**
 * Checks what the schema of a new credential does not, and reads its end.
 *
 * @throws AppError `invalid_argument` for a name that cannot be stored, or an end that is not in the future
 */
export function readNewCredential({ name, expiresAt }: { readonly name: string; readonly expiresAt?: string }): Date | undefined {
  checkStorable({ name })
  if (expiresAt === undefined) return undefined
  const end = new Date(expiresAt)
  if (end.getTime() <= Date.now()) throw new AppError('invalid_argument', 'validation error: expiresAt must be in the future')
  return end
}
