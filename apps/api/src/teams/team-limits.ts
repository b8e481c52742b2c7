import type { Selectable } from 'kysely'
import type { TeamTable } from '@sandyard/db/schema/team'

/** The limits in the row of a team (control-plane.md 3.2). An absent one is that of the settings. */
export interface OwnLimits {
  readonly concurrentSandboxes?: number
  readonly maxLifetimeSeconds?: number
  readonly createsPerMinute?: number
  readonly createBurst?: number
  readonly concurrentBuilds?: number
  readonly maxCpuCount?: number
  readonly maxMemoryMib?: number
}

export const LIMIT_COLUMNS = [
  'team.max_sandboxes',
  'team.max_lifetime_seconds',
  'team.creates_per_minute',
  'team.create_burst',
  'team.max_builds',
  'team.max_cpu_count',
  'team.max_memory_mib',
] as const

type LimitColumn = (typeof LIMIT_COLUMNS)[number] extends `team.${infer Column}` ? Column : never

export function toOwnLimits(row: Pick<Selectable<TeamTable>, LimitColumn>): OwnLimits {
  const limits: Readonly<Record<keyof OwnLimits, number | null>> = {
    concurrentSandboxes: row.max_sandboxes,
    maxLifetimeSeconds: row.max_lifetime_seconds,
    createsPerMinute: row.creates_per_minute,
    createBurst: row.create_burst,
    concurrentBuilds: row.max_builds,
    maxCpuCount: row.max_cpu_count,
    maxMemoryMib: row.max_memory_mib,
  }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null))
}

/** @param defaults - those of the settings */
export function limitsOf<T extends object>(defaults: T, own: OwnLimits): T {
  return { ...defaults, ...own }
}
