import { AppError } from '@sandyard/kit/errors/app-error'
import { isStorable } from '../../text/is-storable.ts'

/**
 * Refuses texts that the database and processes cannot store: with NUL or unpaired surrogates. Checks every text in every field.
 *
 * @throws AppError `invalid_argument`, which names the field
 */
export function checkStorable(fields: Readonly<Record<string, unknown>>): void {
  const bad = Object.keys(fields).find((name) => !isStorable(fields[name]))
  if (bad !== undefined) throw new AppError('invalid_argument', `validation error: ${bad} must not contain NUL or unpaired surrogates`)
}
