import type { JsonValue } from '@bufbuild/protobuf'

const DAY_MS = 24 * 60 * 60 * 1000
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\.e2b-compose\.[0-9a-f-]{36}\.tmp/g, '.e2b-compose.<id>.tmp'],
  [/^w[a-z0-9]{20}$/, '<watcher>'],
]
const TIME = /^(\d{4}-\d\d-\d\dT[\d:.]+Z|\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT)$/

/** Replaces values that differ in every run: ids, temporary names, and current times. */
export function normalise(value: JsonValue): JsonValue {
  if (typeof value === 'string') return normaliseText(value)
  if (Array.isArray(value)) return value.map(normalise)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, normalise(member)]))
}

export function normaliseText(text: string): string {
  if (TIME.test(text) && Math.abs(Date.parse(text) - Date.now()) < DAY_MS) return '<now>'
  return PATTERNS.reduce((normal, [pattern, replacement]) => normal.replace(pattern, replacement), text)
}
