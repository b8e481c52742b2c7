import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { READY_BUILD_STATUSES, UNFINISHED_BUILD_STATUSES, type BuildStatus } from '@sandyard/db/schema/build'
import { findTemplateByAlias } from '../templates/template-queries.ts'

/** A build of a ready-made template. */
export interface ReadyMadeBuild {
  readonly buildId: string
  readonly version: number
  readonly digest: string
  readonly status: BuildStatus
  readonly createdAt: Date
  readonly finishedAt: Date | undefined
  readonly reason: string | undefined
  /** By the clock of the database. */
  readonly finishedMsAgo: number
}

/** What the database knows of a ready-made template. */
export interface ReadyMadeState {
  /** The template that has this name without a namespace, whichever team owns it. */
  readonly templateId: string | undefined
  /** An administrator gave the name to a template of a team. */
  readonly isTaken: boolean
  /** The newest build, whatever became of it. */
  readonly newest: ReadyMadeBuild | undefined
  /** The build that sandboxes start from. */
  readonly installed: ReadyMadeBuild | undefined
  /** Builds that failed since the last one that did not. */
  readonly failures: number
}

/** Older builds say nothing new. */
const MOST_BUILDS = 20

const UNFINISHED: readonly BuildStatus[] = UNFINISHED_BUILD_STATUSES
const READY: readonly BuildStatus[] = READY_BUILD_STATUSES

export function isUnfinished({ status }: Pick<ReadyMadeBuild, 'status'>): boolean {
  return UNFINISHED.includes(status)
}

export async function readReadyMadeState(db: Db, name: string): Promise<ReadyMadeState> {
  const template = await findTemplateByAlias(db, name, null)
  if (template === undefined) return { templateId: undefined, isTaken: false, newest: undefined, installed: undefined, failures: 0 }
  const { templateId } = template
  const builds = await readBuilds(db, templateId, name)
  const firstGood = builds.findIndex(({ status }) => status !== 'failed')
  return {
    templateId,
    isTaken: !(await isDefault(db, templateId)),
    newest: builds[0],
    installed: builds.find(({ status }) => READY.includes(status)),
    failures: firstGood === -1 ? builds.length : firstGood,
  }
}

async function isDefault(db: Db, templateId: string): Promise<boolean> {
  const row = await db.selectFrom('template').select('is_default').where('template_id', '=', templateId).executeTakeFirst()
  return row?.is_default === true
}

async function readBuilds(db: Db, templateId: string, name: string): Promise<ReadyMadeBuild[]> {
  const rows = await db
    .selectFrom('ready_made_build')
    .innerJoin('build', 'build.build_id', 'ready_made_build.build_id')
    .select(['build.build_id', 'build.status', 'build.created_at', 'build.finished_at', 'build.reason_message'])
    .select(['ready_made_build.version', 'ready_made_build.digest'])
    .select(
      sql<number>`(extract(epoch from clock_timestamp() - coalesce(build.finished_at, clock_timestamp())) * 1000)::float8`.as('ms_ago'),
    )
    .where('ready_made_build.name', '=', name)
    .where('build.template_id', '=', templateId)
    .orderBy('ready_made_build.created_at', 'desc')
    .limit(MOST_BUILDS)
    .execute()
  return rows.map((row) => ({
    buildId: row.build_id,
    version: row.version,
    digest: row.digest,
    status: row.status,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? undefined,
    reason: row.reason_message ?? undefined,
    finishedMsAgo: row.ms_ago,
  }))
}
