import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { READY_BUILD_STATUSES } from '@sandyard/db/schema/build'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxLimits } from '../sandboxes/sandbox-limits.ts'
import { isKept } from '../sandboxes/sandbox-queries.ts'
import { limitSource } from './limit-source.ts'
import { limitsOf, type OwnLimits } from './team-limits.ts'

/** What a team keeps on the disk of the host without an end, by the names of its limits. */
export interface KeptCounts {
  readonly maxPausedSandboxes: number
  readonly maxSnapshots: number
  readonly maxTemplates: number
}

export async function countKept(db: Db, teamId: string): Promise<KeptCounts> {
  const [maxPausedSandboxes, maxSnapshots, maxTemplates] = await Promise.all([
    countKeptSandboxes(db, teamId),
    countSnapshots(db, teamId),
    countTemplates(db, teamId),
  ])
  return { maxPausedSandboxes, maxSnapshots, maxTemplates }
}

export async function countKeptSandboxes(db: Db, teamId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from sandbox where team_id = ${teamId} and ${isKept}`.execute(db)
  return rows[0]?.count ?? 0
}

interface SnapshotCheck {
  readonly teamId: string
  /** The limits in the row of the team. */
  readonly own: OwnLimits
  /** Those of the settings. */
  readonly defaults: SandboxLimits
}

/** Checks that a team may have one more snapshot. @throws AppError `resource_exhausted` */
export async function checkSnapshots(db: Db, { teamId, own, defaults }: SnapshotCheck): Promise<void> {
  const { maxSnapshots: limit } = limitsOf(defaults, own)
  if ((await countSnapshots(db, teamId)) < limit) return
  throw tooMany(`snapshots (${limit}). Delete some that you do not need`, 'SANDYARD_MAX_SNAPSHOTS', own.maxSnapshots !== undefined)
}

/** Those that a newer one has replaced under their name are kept too. Of deleted ones the collector of images removes the files. */
async function countSnapshots(db: Db, teamId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from template join build using (template_id)
    where team_id = ${teamId} and deleted_at is null and snapshot is not null and build.status in (${sql.join(READY_BUILD_STATUSES)})
  `.execute(db)
  return rows[0]?.count ?? 0
}

export async function countTemplates(db: Db, teamId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from template where team_id = ${teamId} and deleted_at is null and source = 'template'
  `.execute(db)
  return rows[0]?.count ?? 0
}

export function tooManyPaused(limit: number, own: OwnLimits): AppError {
  const what = `paused sandboxes (${limit}), with those that pause at their timeout. Kill some that you do not need`
  return tooMany(what, 'SANDYARD_MAX_PAUSED_SANDBOXES', own.maxPausedSandboxes !== undefined)
}

export function tooManyTemplates(limit: number, own: OwnLimits): AppError {
  return tooMany(`templates (${limit}). Delete some that you do not need`, 'SANDYARD_MAX_TEMPLATES', own.maxTemplates !== undefined)
}

function tooMany(what: string, setting: string, isOwn: boolean): AppError {
  return new AppError('resource_exhausted', `you have reached the maximum number of ${what}. ${limitSource(setting, isOwn)}`, {
    headers: { 'retry-after': '1' },
  })
}
