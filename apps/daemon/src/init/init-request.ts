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
  const { accessToken, envVars, defaultUser, defaultWorkdir, timestamp } = body as Record<string, unknown>
  const nanoseconds = isAbsent(timestamp) ? undefined : parseTimestamp(timestamp)
  if (!isAbsent(timestamp) && nanoseconds === undefined) return undefined
  if (![accessToken, defaultUser, defaultWorkdir].every((value) => isAbsent(value) || typeof value === 'string')) return undefined
  if (accessToken === '' || !(isAbsent(envVars) || isVariables(envVars))) return undefined
  return {
    ...present({ accessToken, envVars, defaultUser, defaultWorkdir, timestamp: nanoseconds }),
    unsupported: UNSUPPORTED.filter((field) => isAsking((body as Record<string, unknown>)[field])),
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

function isVariables(value: unknown): value is Variables {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((item) => typeof item === 'string')
  )
}

function present(fields: Record<string, unknown>): Omit<InitRequest, 'unsupported'> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isAbsent(value)))
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)$/

/** RFC 3339 to nanoseconds since the epoch. */
function parseTimestamp(value: unknown): bigint | undefined {
  const match = typeof value === 'string' ? RFC_3339.exec(value) : null
  if (match === null) return undefined
  const [text, fraction = ''] = match
  const wholeSeconds = Date.parse(text.replace(/\.\d+/, ''))
  if (Number.isNaN(wholeSeconds)) return undefined
  return BigInt(wholeSeconds) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}
