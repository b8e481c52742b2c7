import { readHeaderParts } from '@sandyard/db/rows/header-placeholders'
import { AppError } from '@sandyard/kit/errors/app-error'

/**
 * The names of the secrets that a header value refers to, by `${e2b.secrets.<name>}` (control-plane.md 18.5).
 *
 * @throws AppError `invalid_argument` for a malformed placeholder
 */
export function readSecretNames(value: string): string[] {
  const parts = readHeaderParts(value)
  if (parts === undefined) throw new AppError('invalid_argument', 'Network transform header contains a malformed E2B placeholder.')
  return parts.flatMap((part) => (typeof part === 'object' && 'secret' in part ? [part.secret] : []))
}
