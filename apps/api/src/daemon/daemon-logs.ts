import type { LogLevel } from '@sandyard/db/schema/build-log'

/** A place in the numbered log entries of one run of a daemon. */
export interface LogPlace {
  readonly boot: string
  /** The number of the last entry before it; 0 at the beginning. */
  readonly place: number
}

/** A log entry of a daemon. */
export interface DaemonLogEntry {
  /** Its number in this run of the daemon. */
  readonly n: number
  /** Unix milliseconds, by the clock of the sandbox. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, string | number | boolean>>
}

/** The log entries of one run of a daemon, with growing numbers. */
export interface DaemonLogs {
  readonly boot: string
  readonly entries: readonly DaemonLogEntry[]
}

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]
/** As many as a daemon keeps. */
export const MAX_LOG_ENTRIES = 1000
const MAX_MESSAGE_LENGTH = 2048
const MAX_FIELDS = 20
const MAX_KEY_LENGTH = 64
const MAX_VALUE_LENGTH = 1024
const MAX_BOOT_LENGTH = 64
/** The last instant of a Date. */
const MAX_TIME_MS = 8_640_000_000_000_000

/** The route of a daemon with its log entries after `place` and, if it is not of an earlier release, its metrics. */
export function logsPath(place: LogPlace | undefined, withMetrics: boolean): string {
  const query = new URLSearchParams({
    ...(place !== undefined && { boot: place.boot, after: String(place.place) }),
    ...(withMetrics && { metrics: 'true' }),
  })
  return query.size === 0 ? '/logs' : `/logs?${query.toString()}`
}

/**
 * Reads the answer of an untrusted daemon: entries that are not of the documented form, or not in order, are left out, long texts are cut
 * off. Undefined when the answer is none at all.
 *
 * @param maxEntries the oldest entries that are read; the next read continues after them
 */
export function parseDaemonLogs(answer: unknown, maxEntries: number): DaemonLogs | undefined {
  if (!isObject(answer)) return undefined
  const { boot, entries } = answer
  if (typeof boot !== 'string' || boot === '' || !Array.isArray(entries)) return undefined
  const parsed: DaemonLogEntry[] = []
  let last = 0
  for (const entry of entries.slice(0, maxEntries)) {
    const read = parseEntry(entry)
    if (read === undefined || read.n <= last) continue
    last = read.n
    parsed.push(read)
  }
  return { boot: clean(boot, MAX_BOOT_LENGTH), entries: parsed }
}

function parseEntry(entry: unknown): DaemonLogEntry | undefined {
  if (!isObject(entry)) return undefined
  const { n, at, level, message, fields } = entry
  if (!Number.isSafeInteger(n) || typeof at !== 'number' || !(at >= 0 && at <= MAX_TIME_MS)) return undefined
  if (typeof message !== 'string' || !isObject(fields)) return undefined
  const isKnown = (value: unknown): value is LogLevel => LEVELS.includes(value)
  return {
    n: n as number,
    at,
    level: isKnown(level) ? level : 'info',
    message: clean(message, MAX_MESSAGE_LENGTH),
    fields: parseFields(fields),
  }
}

function parseFields(fields: Record<string, unknown>): DaemonLogEntry['fields'] {
  const pairs = Object.entries(fields).flatMap(([key, value]): [string, string | number | boolean][] => {
    const name = clean(key, MAX_KEY_LENGTH)
    // These are members of the line itself.
    if (name === '' || name === 'message' || name === 'level') return []
    if (typeof value === 'string') return [[name, clean(value, MAX_VALUE_LENGTH)]]
    return typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : []
  })
  return Object.fromEntries(pairs.slice(0, MAX_FIELDS))
}

/** Postgres stores neither NUL nor half of a surrogate pair. */
function clean(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll('\0', '').toWellFormed()
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
