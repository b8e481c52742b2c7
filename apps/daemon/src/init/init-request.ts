import type { Variables } from './daemon-state.ts'
import type { VolumeMount } from './volume-mounts.ts'

/** The body of `/init`; absent and null fields change nothing (envd.md 5.5). */
export interface InitRequest {
  readonly accessToken?: string
  readonly envVars?: Variables
  readonly defaultUser?: string
  readonly defaultWorkdir?: string
  /** Nanoseconds since the epoch. */
  readonly timestamp?: bigint
  /** PEM of one or more certificates. */
  readonly caBundle?: string
  readonly hyperloopIp?: string
  /** One at least. */
  readonly volumeMounts?: readonly VolumeMount[]
}

type Fields = Readonly<Record<string, unknown>>

const TEXTS = ['accessToken', 'defaultUser', 'defaultWorkdir', 'caBundle', 'hyperloopIP', 'lifecycleID']

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
  const fields = body as Fields
  const { accessToken, envVars, defaultUser, defaultWorkdir, timestamp, caBundle, hyperloopIP: hyperloopIp } = fields
  const nanoseconds = isAbsent(timestamp) ? undefined : parseTimestamp(timestamp)
  if (!isAbsent(timestamp) && nanoseconds === undefined) return undefined
  if (!TEXTS.every((name) => isTextOrAbsent(fields[name]))) return undefined
  if (accessToken === '' || !(isAbsent(envVars) || isVariables(envVars))) return undefined
  const volumeMounts = isAbsent(fields['volumeMounts']) ? [] : parseVolumeMounts(fields['volumeMounts'])
  if (volumeMounts === undefined) return undefined
  const hasVolumes = volumeMounts.length > 0
  return {
    ...present({ accessToken, envVars, defaultUser, defaultWorkdir, timestamp: nanoseconds, caBundle, hyperloopIp }),
    ...(hasVolumes && { volumeMounts }),
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

function isTextOrAbsent(value: unknown): value is string | undefined | null {
  return isAbsent(value) || typeof value === 'string'
}

/** What an entry does not say is empty text, and an entry may say nothing at all. */
function parseVolumeMounts(value: unknown): VolumeMount[] | undefined {
  if (!Array.isArray(value)) return undefined
  const mounts = value.map((entry: unknown): VolumeMount | undefined => {
    if (typeof entry !== 'object' || Array.isArray(entry)) return undefined
    const { nfs_target: nfsTarget, path } = (entry ?? {}) as Fields
    return isTextOrAbsent(nfsTarget) && isTextOrAbsent(path) ? { nfsTarget: nfsTarget ?? '', path: path ?? '' } : undefined
  })
  return mounts.includes(undefined) ? undefined : mounts.filter((mount) => mount !== undefined)
}

function isVariables(value: unknown): value is Variables {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every((item) => typeof item === 'string')
  )
}

function present(fields: Fields): InitRequest {
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
