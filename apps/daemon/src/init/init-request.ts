import type { Variables } from './daemon-state.ts'

/** The body of `/init`; absent and null fields change nothing (envd.md 5.5). */
export interface InitRequest {
  readonly accessToken?: string
  readonly envVars?: Variables
  readonly defaultUser?: string
  readonly defaultWorkdir?: string
  /** Nanoseconds since the epoch. */
  readonly timestamp?: bigint
  /** Fields that ask for something this daemon does not do. */
  readonly unsupported: readonly string[]
}

const TEXTS = ['accessToken', 'defaultUser', 'defaultWorkdir', 'lifecycleID', 'caBundle', 'hyperloopIP']
const UNSUPPORTED = ['caBundle', 'hyperloopIP', 'volumeMounts']

/** Reads a body. Unknown fields are ignored, and no body is an empty one. Undefined for what upstream calls a bad request. */
export function parseInitRequest(text: string): InitRequest | undefined {
  const escapedTokens = new WeakSet<object>()
  let body: unknown
  try {
    body = JSON.parse(text.trim() === '' ? '{}' : text, markEscapedTokens(escapedTokens)) ?? {}
  } catch {
    return undefined
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body) || escapedTokens.has(body)) return undefined
  const fields = body as Record<string, unknown>
  const { accessToken, envVars, defaultUser, defaultWorkdir, timestamp, volumeMounts } = fields
  const nanoseconds = isAbsent(timestamp) ? undefined : parseTimestamp(timestamp)
  if (!isAbsent(timestamp) && nanoseconds === undefined) return undefined
  if (!TEXTS.every((name) => isAbsent(fields[name]) || typeof fields[name] === 'string')) return undefined
  if (accessToken === '' || !(isAbsent(volumeMounts) || Array.isArray(volumeMounts))) return undefined
  const variables = isAbsent(envVars) ? undefined : toVariables(envVars)
  if (!isAbsent(envVars) && variables === undefined) return undefined
  return {
    ...present({ accessToken, envVars: variables, defaultUser, defaultWorkdir, timestamp: nanoseconds }),
    unsupported: UNSUPPORTED.filter((field) => isAsking(fields[field])),
  }
}

/** Tokens are taken from the text as it stands, so one with an escape in it is refused. The parser hands over that text only here. */
function markEscapedTokens(marked: WeakSet<object>) {
  return function (this: object, key: string, value: unknown, context?: { source?: string }): unknown {
    if (key === 'accessToken' && context?.source?.includes('\\') === true) marked.add(this)
    return value
  }
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function isAsking(value: unknown): boolean {
  return !isAbsent(value) && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** A null is an empty text, as it is upstream. */
function toVariables(value: unknown): Variables | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value).map(([name, text]): [string, unknown] => [name, text ?? ''])
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string') ? Object.fromEntries(entries) : undefined
}

function present(fields: Record<string, unknown>): Omit<InitRequest, 'unsupported'> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isAbsent(value)))
}

const RFC_3339 = /^(\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d)(?:[.,](\d+))?(Z|[+-](?:[01]\d|2[0-4]):[0-5]\d)$/

/** RFC 3339 to nanoseconds since the epoch, as strict and as lax as upstream: a decimal comma is one. */
function parseTimestamp(value: unknown): bigint | undefined {
  const match = typeof value === 'string' ? RFC_3339.exec(value) : null
  if (match === null) return undefined
  const [, time = '', fraction = '', zone = ''] = match
  const local = Date.parse(`${time}Z`)
  // `Date` takes the 30th of February for the 1st of March.
  if (Number.isNaN(local) || new Date(local).toISOString() !== `${time}.000Z`) return undefined
  return BigInt(local - toOffsetMs(zone)) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}

function toOffsetMs(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
}
