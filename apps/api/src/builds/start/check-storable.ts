import { AppError } from '@sandyard/kit/errors/app-error'

/**
 * Refuses texts that the database and processes cannot store: with NUL or unpaired surrogates. Checks every text in every field.
 *
 * @throws AppError `invalid_argument`, which names the field
 */
export function checkStorable(fields: Readonly<Record<string, unknown>>): void {
  const bad = Object.keys(fields).find((name) => !isStorable(fields[name]))
  if (bad !== undefined) throw new AppError('invalid_argument', `validation error: ${bad} must not contain NUL or unpaired surrogates`)
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  return typeof value === 'object' && value !== null ? Object.values(value).every(isStorable) : true
}
