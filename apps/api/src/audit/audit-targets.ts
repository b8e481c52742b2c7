import type { AuditTargets } from './audit-entry.ts'

/** What names an object in paths, bodies and answers. Nothing else of them is recorded: they have secrets and data of users. */
const NAMES = [
  'sandboxID',
  'templateID',
  'buildID',
  'snapshotID',
  'teamID',
  'apiKeyID',
  'accessTokenID',
  'nodeID',
  'volumeID',
  'secretID',
  'userID',
  'webhookID',
  'deliveryID',
  'hash',
  'name',
  'alias',
  'target',
  'tags',
] as const
/** In answers about credentials, volumes and secrets the object is `id`. */
const ID_NAMES: Readonly<Record<string, string>> = {
  createApiKey: 'apiKeyID',
  createTeamApiKey: 'apiKeyID',
  createAccessToken: 'accessTokenID',
  createWebhook: 'webhookID',
}

/** Names of the dashboard's own operations, with those of the interface for the same objects. */
const DASHBOARD_NAMES: Readonly<Record<string, string>> = {
  sandboxId: 'sandboxID',
  templateId: 'templateID',
  buildId: 'buildID',
  teamId: 'teamID',
  volumeId: 'volumeID',
  recordingId: 'recordingID',
  jobId: 'jobID',
  action: 'action',
  path: 'path',
}

const MAX_LENGTH = 256
const MAX_ITEMS = 100

export interface AuditSources {
  readonly operation: string
  readonly params: unknown
  readonly body: unknown
  /** The answer before it is written; undefined without one. */
  readonly answer: unknown
}

/** The ids and names of what a request was about. Those of the answer count before those that were asked for. */
export function auditTargets({ operation, params, body, answer }: AuditSources): AuditTargets {
  const made = Array.isArray(answer) ? joined(answer.slice(0, MAX_ITEMS)) : pick(answer)
  const idName = ID_NAMES[operation]
  const id = idName === undefined ? undefined : text((answer as { readonly id?: unknown } | undefined)?.id)
  return { ...pick(body), ...pick(params), ...made, ...(idName !== undefined && id !== undefined && { [idName]: id }) }
}

function pick(source: unknown): Record<string, string | string[]> {
  if (typeof source !== 'object' || source === null) return {}
  const names = [...NAMES.map((name) => [name, name] as const), ...Object.entries(DASHBOARD_NAMES)]
  const pairs = names.flatMap(([name, recorded]): [string, string | string[]][] => {
    const value = Object.hasOwn(source, name) ? (source as Readonly<Record<string, unknown>>)[name] : undefined
    const read = Array.isArray(value) ? value.slice(0, MAX_ITEMS).flatMap((item) => text(item) ?? []) : text(value)
    return read === undefined ? [] : [[recorded, read]]
  })
  return Object.fromEntries(pairs)
}

/** The forks of a sandbox: each has the object under a name. */
function joined(items: readonly unknown[]): Record<string, string[]> {
  const ids = items.flatMap(
    (item) => text((item as { readonly sandbox?: { readonly sandboxID?: unknown } } | null)?.sandbox?.sandboxID) ?? [],
  )
  return ids.length === 0 ? {} : { forkIDs: ids }
}

/** As Postgres and a line of the log can store it. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_LENGTH).replaceAll('\0', '').toWellFormed() : undefined
}
