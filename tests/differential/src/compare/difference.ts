import { isDeepStrictEqual } from 'node:util'

/** One place in which the daemons differ; undefined if one has no value there. */
export interface Difference {
  /** `status`, `headers.vary`, `body.entry.size`, `frames`... */
  readonly at: string
  readonly ours: unknown
  readonly reference: unknown
}

/** Every place in which two values differ, as deep as both have the same structure. */
export function findDifferences(at: string, ours: unknown, reference: unknown): Difference[] {
  if (isDeepStrictEqual(ours, reference)) return []
  if (Array.isArray(ours) && Array.isArray(reference) && ours.length === reference.length) {
    return ours.flatMap((item, index) => findDifferences(`${at}.${index}`, item, reference[index]))
  }
  if (isRecord(ours) && isRecord(reference)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(reference)])
    return [...keys].flatMap((key) => findDifferences(at === '' ? key : `${at}.${key}`, ours[key], reference[key]))
  }
  return [{ at, ours, reference }]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
