import { AppError } from '@sandyard/kit/errors/app-error'

/** Far deeper than any field of the interface, far from the end of the stack. */
const MAX_DEPTH = 64

/**
 * JSON that is the same for values that differ in nothing but the order of their fields.
 *
 * @throws AppError `invalid_argument` for a value of more than 64 levels
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value, 0))
}

function sorted(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== 'object') return value
  if (depth === MAX_DEPTH) {
    throw new AppError(
      'invalid_argument',
      `validation error: error in openapi3filter.RequestError: request body has an error: it is nested deeper than ${MAX_DEPTH} levels`,
    )
  }
  if (Array.isArray(value)) return value.map((item) => sorted(item, depth + 1))
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item, depth + 1)]))
}
