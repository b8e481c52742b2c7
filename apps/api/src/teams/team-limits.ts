import type { Selectable } from 'kysely'
import type { TeamTable } from '@sandyard/db/schema/team'

/** The column of each limit of a team. */
export const LIMIT_COLUMN = {
  concurrentSandboxes: 'max_sandboxes',
  maxPausedSandboxes: 'max_paused_sandboxes',
  maxLifetimeSeconds: 'max_lifetime_seconds',
  createsPerMinute: 'creates_per_minute',
  createBurst: 'create_burst',
  maxSnapshots: 'max_snapshots',
  maxTemplates: 'max_templates',
  concurrentBuilds: 'max_builds',
  maxCpuCount: 'max_cpu_count',
  maxMemoryMib: 'max_memory_mib',
  maxDiskMib: 'max_disk_mib',
  maxStoredBytes: 'max_stored_bytes',
} as const satisfies Readonly<Record<string, keyof TeamTable>>

export type LimitName = keyof typeof LIMIT_COLUMN
type LimitColumn = (typeof LIMIT_COLUMN)[LimitName]

/** The limits in the row of a team (control-plane.md 3.2). An absent one is that of the settings. */
export type OwnLimits = { readonly [Name in LimitName]?: number }

export const LIMIT_NAMES = Object.keys(LIMIT_COLUMN) as readonly LimitName[]
export const LIMIT_COLUMNS = LIMIT_NAMES.map((name) => `team.${LIMIT_COLUMN[name]}` as const)

export function toOwnLimits(row: Pick<Selectable<TeamTable>, LimitColumn>): OwnLimits {
  const limits = LIMIT_NAMES.map((name) => [name, row[LIMIT_COLUMN[name]]] as const)
  return Object.fromEntries(limits.filter(([, limit]) => limit !== null))
}

/** @param defaults - those of the settings */
export function limitsOf<T extends object>(defaults: T, own: OwnLimits): T {
  return { ...defaults, ...own }
}
