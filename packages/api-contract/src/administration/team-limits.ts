import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'

const MOST = 1_000_000
const INT32_MAX = 2_147_483_647
const DAY_SECONDS = 86_400

function limit(description: string, maximum: number) {
  return Type.Integer({ minimum: 1, maximum, description })
}

/** The limits of a team by their names. */
const LIMITS = {
  concurrentSandboxes: limit('Sandboxes at once', INT32_MAX),
  maxPausedSandboxes: limit('Sandboxes that are paused, or will be at their end time', INT32_MAX),
  maxLifetimeSeconds: limit('Longest lifetime of a sandbox in seconds', DAY_SECONDS),
  createsPerMinute: limit('Creates and forks in a minute', MOST),
  createBurst: limit('Creates and forks that may come at once', MOST),
  maxSnapshots: limit('Snapshots', INT32_MAX),
  maxTemplates: limit('Templates', INT32_MAX),
  concurrentBuilds: limit('Registered and running builds at once', INT32_MAX),
  maxCpuCount: limit('Most CPU cores of a template', INT32_MAX),
  maxMemoryMB: limit('Most memory of a template in MiB', INT32_MAX),
  maxDiskMB: limit('Largest disk that a template may ask for, in MiB', INT32_MAX),
  maxStoredBytes: limit('Bytes of volumes and uploads', Number.MAX_SAFE_INTEGER),
} as const

const wanted = {
  concurrentSandboxes: Type.Optional(Nullable(LIMITS.concurrentSandboxes)),
  maxPausedSandboxes: Type.Optional(Nullable(LIMITS.maxPausedSandboxes)),
  maxLifetimeSeconds: Type.Optional(Nullable(LIMITS.maxLifetimeSeconds)),
  createsPerMinute: Type.Optional(Nullable(LIMITS.createsPerMinute)),
  createBurst: Type.Optional(Nullable(LIMITS.createBurst)),
  maxSnapshots: Type.Optional(Nullable(LIMITS.maxSnapshots)),
  maxTemplates: Type.Optional(Nullable(LIMITS.maxTemplates)),
  concurrentBuilds: Type.Optional(Nullable(LIMITS.concurrentBuilds)),
  maxCpuCount: Type.Optional(Nullable(LIMITS.maxCpuCount)),
  maxMemoryMB: Type.Optional(Nullable(LIMITS.maxMemoryMB)),
  maxDiskMB: Type.Optional(Nullable(LIMITS.maxDiskMB)),
  maxStoredBytes: Type.Optional(Nullable(LIMITS.maxStoredBytes)),
}

/** Limits that a request sets; null is that of the settings. Unknown names are refused, because a limit that is not kept is worse than none. */
export const TeamLimitsUpdate = Type.Object(wanted, {
  title: 'TeamLimitsUpdate',
  additionalProperties: false,
  description: 'Null is the limit of the settings; absent limits stay',
})
export type TeamLimitsUpdate = Static<typeof TeamLimitsUpdate>

/** What applies to a team: absent ones have no limit. */
export const TeamLimits = Type.Partial(Type.Object(LIMITS), { title: 'TeamLimits' })
export type TeamLimits = Static<typeof TeamLimits>

const LimitUse = Type.Object(
  {
    limit: Nullable(Type.Integer({ description: 'Null without a limit' })),
    used: Type.Optional(Type.Integer({ description: 'What counts against it now' })),
  },
  { title: 'LimitUse' },
)

/** Answer of `GET /teams/{teamID}/limits`. */
export const TeamLimitsUse = Type.Object(
  {
    concurrentSandboxes: LimitUse,
    maxPausedSandboxes: LimitUse,
    maxLifetimeSeconds: LimitUse,
    createsPerMinute: LimitUse,
    createBurst: LimitUse,
    maxSnapshots: LimitUse,
    maxTemplates: LimitUse,
    concurrentBuilds: LimitUse,
    maxCpuCount: LimitUse,
    maxMemoryMB: LimitUse,
    maxDiskMB: LimitUse,
    maxStoredBytes: LimitUse,
  },
  { title: 'TeamLimitsUse' },
)
export type TeamLimitsUse = Static<typeof TeamLimitsUse>
