import { AppError } from '@sandyard/kit/errors/app-error'

/**
 * Refuses texts that neither the database nor a process can hold: with NUL or with halves of surrogate pairs. Looks at every text in
 * every field.
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
