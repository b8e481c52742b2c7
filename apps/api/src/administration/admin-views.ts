import type { AdminTeam } from '@sandyard/api-contract/administration/admin-team'
import type { AdminUser, TeamMember } from '@sandyard/api-contract/administration/admin-user'
import type { TeamLimits, TeamLimitsUpdate } from '@sandyard/api-contract/administration/team-limits'
import type { ApiConfig } from '../config.ts'
import type { MemberRow } from '../teams/members.ts'
import { limitsOf, LIMIT_NAMES, toOwnLimits, type LimitName } from '../teams/team-limits.ts'
import type { TeamRow } from '../teams/team-rows.ts'
import type { UserRow } from '../teams/users.ts'

/** The names of limits on the wire. */
export const WIRE_LIMITS = {
  concurrentSandboxes: 'concurrentSandboxes',
  maxPausedSandboxes: 'maxPausedSandboxes',
  maxLifetimeSeconds: 'maxLifetimeSeconds',
  createsPerMinute: 'createsPerMinute',
  createBurst: 'createBurst',
  maxSnapshots: 'maxSnapshots',
  maxTemplates: 'maxTemplates',
  concurrentBuilds: 'concurrentBuilds',
  maxCpuCount: 'maxCpuCount',
  maxMemoryMib: 'maxMemoryMB',
  maxDiskMib: 'maxDiskMB',
  maxStoredBytes: 'maxStoredBytes',
} as const satisfies Readonly<Record<LimitName, keyof TeamLimits>>

/** The limits of the settings. */
export type SettingLimits = { readonly [Name in LimitName]: number | undefined }

export function settingLimits({ limits, builds, storage }: Pick<ApiConfig, 'limits' | 'builds' | 'storage'>): SettingLimits {
  const { maxTemplates, concurrentBuilds, maxCpuCount, maxMemoryMib, maxDiskMib } = builds.templates
  return { ...limits, maxTemplates, concurrentBuilds, maxCpuCount, maxMemoryMib, maxDiskMib, ...storage }
}

export function toAdminTeam(row: TeamRow, settings: SettingLimits): AdminTeam {
  const own = toOwnLimits(row)
  return {
    teamID: row.id,
    name: row.name,
    slug: row.slug,
    email: row.email,
    isBanned: row.is_banned,
    isBlocked: row.is_blocked,
    blockedReason: row.blocked_reason,
    createdAt: row.created_at.toISOString(),
    limits: toWireLimits(own),
    effectiveLimits: toWireLimits(limitsOf(settings, own)),
  }
}

/** Absent ones stay absent. */
function toWireLimits(limits: { readonly [Name in LimitName]?: number | undefined }): TeamLimits {
  const known = LIMIT_NAMES.filter((name) => limits[name] !== undefined)
  return Object.fromEntries(known.map((name) => [WIRE_LIMITS[name], limits[name]]))
}

export function fromWireLimits(limits: TeamLimitsUpdate): { readonly [Name in LimitName]?: number | null } {
  const given = LIMIT_NAMES.filter((name) => limits[WIRE_LIMITS[name]] !== undefined)
  return Object.fromEntries(given.map((name) => [name, limits[WIRE_LIMITS[name]]]))
}

export function toAdminUser({ id, email, created_at: createdAt }: UserRow): AdminUser {
  return { userID: id, email, createdAt: createdAt.toISOString() }
}

export function toTeamMember({ user_id: userID, email, is_default: isDefault, created_at: createdAt }: MemberRow): TeamMember {
  return { userID, email, isDefault, createdAt: createdAt.toISOString() }
}
