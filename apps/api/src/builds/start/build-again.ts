import type { BuilderVersion } from '@sandyard/db/schema/build'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Team } from '../../teams/team.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import { resolveTemplate } from '../../templates/resolve-template.ts'
import { DEFAULT_TAG, parseTemplateReference } from '../../templates/template-reference.ts'
import { touchUpload } from '../../uploads/upload-queries.ts'
import { buildNotFound } from '../build-errors.ts'
import type { BuildParts } from '../build-parts.ts'
import { toLegacyPlan, type BuildPlan } from '../build-plan.ts'
import { registerBuild } from '../registration/register-build.ts'
import { checkTemplateSize } from '../registration/template-size.ts'

interface KeptBuild {
  readonly templateId: string
  readonly plan: BuildPlan
  readonly builderVersion: BuilderVersion
  readonly dockerfile: string | null
  readonly resources: { readonly cpuCount: number; readonly memoryMib: number; readonly diskMib: number }
}

/**
 * Registers and starts a build of the same instructions, size and tags. It begins from what its base is now, and ends builds in progress for one of the
 * tags, as a new build of a client does.
 *
 * @throws AppError `not_found`, `conflict` with the reason why the build cannot be made again; `invalid_argument` for a size above the limits;
 * `resource_exhausted`
 */
export async function buildAgain(parts: BuildParts, team: Team, buildId: string): Promise<{ templateId: string; buildId: string }> {
  const { db } = parts.database
  const kept = await getKeptBuild(db, team.id, buildId)
  const { templateId, builderVersion, dockerfile } = kept
  const resources = checkTemplateSize(kept.resources, limitsOf(parts.limits, team.limits))
  const plan = await renew(db, team, kept.plan)
  await requireFiles(db, team.id, plan)
  const commands = { startCmd: plan.startCmd, readyCmd: plan.readyCmd }
  return registerBuild(parts, {
    team,
    userId: undefined,
    target: { kind: 'existing', templateId },
    tags: await readTags(db, buildId),
    resources,
    ...(dockerfile !== null && { legacy: { dockerfile, ...commands } }),
    order: { plan, builderVersion },
    operation: { operationId: 'rebuildTemplate', idempotent: undefined },
  })
}

async function getKeptBuild(db: Db, teamId: string, buildId: string): Promise<KeptBuild> {
  const row = await db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .leftJoin('build_plan', 'build_plan.build_id', 'build.build_id')
    .select(['build.template_id', 'build.builder_version', 'build.dockerfile', 'build.start_cmd', 'build.ready_cmd'])
    .select(['build.cpu_count', 'build.memory_mib', 'build.disk_mib', 'build_plan.plan', 'build_plan.needs_credentials'])
    .where('build.build_id', '=', buildId)
    .where('template.team_id', '=', teamId)
    .executeTakeFirst()
  if (row === undefined) throw buildNotFound(`Build '${buildId}' not found`)
  if (row.needs_credentials === true) throw cannot('it took its base from a registry with credentials, which are not kept')
  const { builder_version: builderVersion, dockerfile, start_cmd: startCmd, ready_cmd: readyCmd } = row
  const commands = { startCmd: startCmd ?? undefined, readyCmd: readyCmd ?? undefined }
  const legacy = dockerfile === null || dockerfile.trim() === '' ? undefined : toLegacyPlan({ dockerfile, ...commands })
  const plan = (row.plan as BuildPlan | null) ?? legacy
  if (plan === undefined || builderVersion === null) throw cannot('its instructions are not kept')
  const resources = { cpuCount: row.cpu_count, memoryMib: row.memory_mib, diskMib: row.disk_mib }
  return { templateId: row.template_id, plan, builderVersion, dockerfile, resources }
}

/** A base that is a template is the build that its name has now. @throws AppError `conflict` when there is none */
async function renew(db: Db, team: Team, plan: BuildPlan): Promise<BuildPlan> {
  const { source } = plan
  if (source.kind !== 'template') return plan
  try {
    const { build } = await resolveTemplate(db, team, parseTemplateReference(source.reference))
    return { ...plan, source: { ...source, buildId: build.buildId } }
  } catch (err) {
    if (err instanceof AppError) throw cannot(`of its base: ${err.message}`)
    throw err
  }
}

/** The archives of COPY steps are removed when nobody has used them for long. From here on they count as used. */
async function requireFiles(db: Db, teamId: string, { steps }: BuildPlan): Promise<void> {
  for (const [at, { filesHash }] of steps.entries()) {
    if (filesHash !== undefined && !(await touchUpload(db, { teamId, hash: filesHash })))
      throw cannot(`the files of step ${at + 1} are not kept any more`)
  }
}

/** All that the build has had. */
async function readTags(db: Db, buildId: string): Promise<string[]> {
  const rows = await db.selectFrom('tag_assignment').select('tag').distinct().where('build_id', '=', buildId).orderBy('tag').execute()
  return rows.length === 0 ? [DEFAULT_TAG] : rows.map(({ tag }) => tag)
}

function cannot(reason: string): AppError {
  return new AppError('conflict', `This build cannot be made again, because ${reason}: start it with the SDK or the CLI`)
}
