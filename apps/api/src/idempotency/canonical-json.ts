import { AppError } from '@sandyard/kit/errors/app-error'

/** Deeper than any field of the interface; far below the stack limit. */
const MAX_DEPTH = 64

/**
 * JSON that is equal for values that differ only in the order of their fields.
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

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ObjectSchema>>
}

/**
 * Keeps only the fields of a valid body that its schema declares; other fields have no effect (control-plane.md 1.5). Free-form objects are
 * kept whole.
 */
export function knownFields(schema: ObjectSchema, value: unknown): unknown {
  const { properties } = schema
  if (properties === undefined || value === null || typeof value !== 'object') return value
  const names = Object.keys(properties).filter((name) => Object.hasOwn(value, name))
  return Object.fromEntries(
    names.map((name) => [name, knownFields(properties[name] ?? {}, (value as Readonly<Record<string, unknown>>)[name])]),
  )
}
