import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuidOrCompact } from '@sandyard/kit/ids/uuid'

/** The forms of a UUID by their length: plain, without hyphens, in braces, as a URN. */
const INNER: Readonly<Record<number, (text: string) => string>> = {
  36: (text) => text,
  32: (text) => text,
  38: (text) => /^\{(.*)\}$/.exec(text)?.[1] ?? '',
  45: (text) => /^urn:uuid:(.*)$/i.exec(text)?.[1] ?? '',
}

/**
 * The id of a credential in a path.
 *
 * @param what as in `API key ID`
 * @throws AppError `invalid_argument` (control-plane.md 14.2)
 */
export function parseCredentialId(text: string, what: string): string {
  const length = Buffer.byteLength(text)
  const inner = INNER[length]?.(text)
  if (inner !== undefined && isUuidOrCompact(inner)) return inner
  const detail = inner === undefined ? `invalid UUID length: ${length}` : 'invalid UUID format'
  throw new AppError('invalid_argument', `Error when parsing ${what}: ${detail}`)
}
