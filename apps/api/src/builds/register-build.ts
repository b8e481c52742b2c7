import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxResources } from '@sandyard/runtime/types'
import { appendEvent } from '../events/event-log.ts'
import { ENVD_VERSION } from '../seed/seed-base-template.ts'
import { lockTeam } from '../teams/lock-team.ts'
import type { Team } from '../teams/team.ts'
import { findTemplateByAlias } from '../templates/template-queries.ts'
import { templateDeleted, tooManyBuilds } from './build-errors.ts'
import type { BuildParts } from './build-parts.ts'
import type { BuildPlan } from './build-plan.ts'
import { claimAlias } from './claim-alias.ts'
import { endOlderBuilds } from './end-older-builds.ts'
import { enqueueBuild } from './queue/enqueue-build.ts'

/** Which template a build is registered for. */
type BuildTarget =
  /** The team's template of this name, or a new one. */
  | { readonly kind: 'named'; readonly alias: string }
  /** A new one in any case. */
  | { readonly kind: 'new'; readonly alias?: string | undefined }
  /** This one of the team's, which gets the name. */
  | { readonly kind: 'existing'; readonly templateId: string; readonly alias?: string | undefined }

/** What builds of the first generation bring when they are registered. */
interface LegacyBuild {
  readonly dockerfile: string
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
  /** Given: the build is started with its registration. */
  readonly plan?: BuildPlan | undefined
}

export interface Registration {
  readonly team: Team
  /** Who creates the template, if it is new. */
  readonly userId: string | undefined
  readonly target: BuildTarget
  /** At least one. */
  readonly tags: readonly string[]
  readonly resources: SandboxResources
  readonly legacy?: LegacyBuild
}

const TEMPLATE_ID_LENGTH = 20

/**
 * Registers a build, for a new template where there is none yet, all of it in one transaction. Registrations of a team take turns, so
 * that the limit and the names hold however many come at once. Its tags are assigned, and what was registered for one of them and
 * never started ends (control-plane.md 10.3).
 *
 * @throws AppError `resource_exhausted` at the limit, `conflict` and `permission_denied` for a name that is taken, `not_found` for a
 * template that has been deleted; then nothing has changed
 */
export async function registerBuild(parts: BuildParts, registration: Registration): Promise<{ templateId: string; buildId: string }> {
  const { team, target, tags, legacy } = registration
  const limit = parts.limits.concurrentBuilds
  return parts.database.transaction(async (tx) => {
    await lockTeam(tx, team.id)
    const known = await findTarget(tx, team, target)
    if (known !== undefined) await endOlderBuilds(tx, { templateId: known, tags }, { alsoInProgress: legacy?.plan !== undefined })
    if ((await countUnfinished(tx, team.id)) >= limit) throw tooManyBuilds(limit)
    const templateId = known ?? (await insertTemplate(tx, registration))
    if (target.alias !== undefined) await claimAlias(tx, { alias: target.alias, namespace: team.slug, templateId })
    await countBuild(tx, templateId)
    const buildId = await insertBuild(tx, templateId, registration)
    await appendEvent(tx, { teamId: team.id, kind: 'template.build_registered', subject: templateId, data: { buildId } })
    if (legacy?.plan !== undefined) {
      await enqueueBuild(tx, parts.tokenSeed, { buildId, teamId: team.id, plan: legacy.plan, builderVersion: 'v1' })
    }
    return { templateId, buildId }
  })
}

async function findTarget(tx: Tx, team: Team, target: BuildTarget): Promise<string | undefined> {
  if (target.kind === 'new') return undefined
  if (target.kind === 'existing') return target.templateId
  return (await findTemplateByAlias(tx, target.alias, team.slug))?.templateId
}

/** Those that end already, and those of deleted templates, do not count. */
async function countUnfinished(tx: Tx, teamId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .leftJoin('build_job', 'build_job.build_id', 'build.build_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('template.team_id', '=', teamId)
    .where('template.deleted_at', 'is', null)
    .where('build.status', 'in', ['pending', 'waiting', 'in_progress', 'building'])
    .where('build_job.cancel_reason', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

async function insertTemplate(tx: Tx, { team, userId }: Registration): Promise<string> {
  const templateId = randomId(TEMPLATE_ID_LENGTH)
  await tx
    .insertInto('template')
    .values((eb) => ({
      template_id: templateId,
      team_id: team.id,
      source: 'template',
      // The user may have been deleted since the credential was looked up.
      created_by: userId === undefined ? null : eb.selectFrom('app_user').select('app_user.id').where('app_user.id', '=', userId),
    }))
    .execute()
  return templateId
}

async function countBuild(tx: Tx, templateId: string): Promise<void> {
  const counted = await tx
    .updateTable('template')
    .set((eb) => ({ build_count: eb('build_count', '+', 1), updated_at: sql<Date>`clock_timestamp()` }))
    .where('template_id', '=', templateId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (counted.numUpdatedRows === 0n) throw templateDeleted(templateId)
}

async function insertBuild(tx: Tx, templateId: string, { resources, tags, legacy }: Registration): Promise<string> {
  const { build_id } = await tx
    .insertInto('build')
    .values({
      template_id: templateId,
      status: 'waiting',
      cpu_count: resources.cpuCount,
      memory_mib: resources.memoryMib,
      disk_mib: resources.diskMib,
      // What a base has; the end of the build says what it came to.
      default_user: 'user',
      default_workdir: '/home/user',
      envd_version: ENVD_VERSION,
      created_at: sql<Date>`clock_timestamp()`,
      updated_at: sql<Date>`clock_timestamp()`,
      builder_version: legacy === undefined ? null : 'v1',
      dockerfile: legacy?.dockerfile ?? null,
      start_cmd: legacy?.startCmd ?? null,
      ready_cmd: legacy?.readyCmd ?? null,
      starts_itself: legacy?.plan !== undefined,
    })
    .returning('build_id')
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('tag_assignment')
    .values(tags.map((tag) => ({ template_id: templateId, build_id, tag })))
    .execute()
  return build_id
}
