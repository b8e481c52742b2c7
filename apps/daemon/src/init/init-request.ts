import type { DaemonIdentity, Variables } from './daemon-state.ts'
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
  /** Our own field: removes what `caBundle` has added, before an image of the files is made. */
  readonly removeCaBundle?: true
  readonly hyperloopIp?: string
  /** Our own field; only a daemon with a platform reads it. */
  readonly identity?: DaemonIdentity
  /** Our own field: the create that takes over a sandbox which was started ahead. Only a daemon with a platform reads it. */
  readonly claim?: string
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
  const identity = isAbsent(fields['identity']) ? undefined : parseIdentity(fields['identity'])
  if (!isAbsent(fields['identity']) && identity === undefined) return undefined
  const nanoseconds = isAbsent(timestamp) ? undefined : parseTimestamp(timestamp)
  if (!isAbsent(timestamp) && nanoseconds === undefined) return undefined
  const claim = isAbsent(fields['claim']) ? undefined : fields['claim']
  if (claim !== undefined && !isText(claim)) return undefined
  if (!TEXTS.every((name) => isTextOrAbsent(fields[name]))) return undefined
  const variables = isAbsent(envVars) ? undefined : toVariables(envVars)
  if (accessToken === '' || (!isAbsent(envVars) && variables === undefined)) return undefined
  const volumeMounts = isAbsent(fields['volumeMounts']) ? [] : parseVolumeMounts(fields['volumeMounts'])
  if (volumeMounts === undefined) return undefined
  const hasVolumes = volumeMounts.length > 0
  return {
    ...present({
      accessToken,
      envVars: variables,
      defaultUser,
      defaultWorkdir,
      timestamp: nanoseconds,
      caBundle,
      hyperloopIp,
      identity,
      claim,
    }),
    ...(hasVolumes && { volumeMounts }),
    ...(fields['removeCaBundle'] === true && { removeCaBundle: true as const }),
  }
}

/** Marks tokens with a JSON escape, which are refused. Only the reviver of the parser gets the source text. */
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

const DIGEST = /^[0-9a-f]{128}$/

/** All fields are required, so that no part of an earlier identity remains. */
function parseIdentity(value: unknown): DaemonIdentity | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { sandboxID: sandboxId, templateID: templateId, buildID: buildId, tunnelSecretHash } = value as Fields
  if (!isText(sandboxId) || !isText(templateId) || !isText(buildId) || !isText(tunnelSecretHash)) return undefined
  return DIGEST.test(tunnelSecretHash) ? { sandboxId, templateId, buildId, tunnelSecretHash } : undefined
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
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

/** A null is an empty text, as it is upstream. */
function toVariables(value: unknown): Variables | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value).map(([name, text]): [string, unknown] => [name, text ?? ''])
  return entries.every((entry): entry is [string, string] => typeof entry[1] === 'string') ? Object.fromEntries(entries) : undefined
}

function present(fields: Fields): InitRequest {
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
