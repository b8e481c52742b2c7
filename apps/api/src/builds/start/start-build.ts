import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import type { TemplateBuildStartV2 } from '@sandyard/api-contract/builds/start-build'
import type { Tx } from '@sandyard/db/database'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { checkTemplateScope } from '../../auth/key-scopes.ts'
import type { Team } from '../../teams/team.ts'
import { resolveTemplate } from '../../templates/resolve-template.ts'
import { parseTemplateReference } from '../../templates/template-reference.ts'
import { foreignBuild, notWaiting } from '../build-errors.ts'
import type { BuildParts } from '../build-parts.ts'
import type { BuildPlan, BuildSource } from '../build-plan.ts'
import { getBuildToStart, isWaiting, queueInPlaceOfOthers, whileWaiting, type BuildPath } from './build-to-start.ts'
import { builderVersionOf } from './builder-version.ts'
import { checkStorable } from './check-storable.ts'
import { checkWorkdirs } from './check-workdirs.ts'
import { settleBuild } from '../queue/settle-build.ts'
import { withoutUserInfo } from './without-user-info.ts'

export interface StartRequest extends BuildPath {
  readonly body: TemplateBuildStartV2
  readonly userAgent: string | undefined
  /** Of the API key, if it has one. */
  readonly scope?: KeyScope | undefined
}

/**
 * Starts a registered build: clients then see it as `building`, or as failed if its source does not exist. Of concurrent starts of one
 * build exactly one succeeds. The checks run in the order of control-plane.md 10.5.
 *
 * @throws AppError with the texts of control-plane.md 10.5. Only the `internal` one, for a request without exactly one source, has an
 * effect: the build has failed
 */
export async function startBuild(parts: BuildParts, team: Team, request: StartRequest): Promise<void> {
  const { body } = request
  const plan = readPlan(body)
  const build = await getBuildToStart(parts.database.db, request)
  if (build.ownerId !== team.id) throw foreignBuild()
  checkTemplateScope(request.scope, build)
  if (!isWaiting(build)) throw notWaiting()
  const builderVersion = builderVersionOf(request.userAgent)
  const problem = problemWithSource(body)

  await whileWaiting(parts, build, async (tx) => {
    const source = problem ?? (await findSource(tx, team, body))
    if (typeof source === 'string') {
      await settleBuild(tx, build.buildId, { kind: 'failed', message: source, step: 'base' })
    } else {
      await queueInPlaceOfOthers(tx, parts, build, { plan: { ...plan, source }, builderVersion, credentials: body.fromImageRegistry })
    }
  })
  if (problem !== undefined) {
    throw new AppError('internal', `Error when starting template build: ${problem}`, { headers: { 'should-retry': 'false' } })
  }
}

/** @throws AppError `invalid_argument` for text that cannot be stored, and for a working directory in a tree of the kernel */
function readPlan(body: TemplateBuildStartV2): Omit<BuildPlan, 'source'> {
  const { fromImage, fromTemplate, fromImageRegistry, force = false, startCmd, readyCmd } = body
  const steps = (body.steps ?? []).map(({ type, args = [], filesHash, force: isForced = false }) => ({
    type,
    args,
    filesHash,
    force: isForced,
  }))
  checkStorable({ fromImage, fromTemplate, fromImageRegistry, steps, startCmd, readyCmd })
  checkWorkdirs(steps)
  return { steps, force, startCmd: startCmd || undefined, readyCmd: readyCmd || undefined }
}

/** Texts of control-plane.md 10.5. An empty source counts as absent. */
function problemWithSource({ fromImage = '', fromTemplate = '' }: TemplateBuildStartV2): string | undefined {
  if (fromImage !== '' && fromTemplate !== '') return 'cannot specify both fromImage and fromTemplate'
  if (fromImage === '' && fromTemplate === '') return 'must specify either fromImage or fromTemplate'
  return undefined
}

/** The source of the build, or the reason why there is none. */
async function findSource(tx: Tx, team: Team, { fromImage = '', fromTemplate = '' }: TemplateBuildStartV2): Promise<BuildSource | string> {
  if (fromImage !== '') return { kind: 'image', reference: withoutUserInfo(fromImage) }
  try {
    const { build } = await resolveTemplate(tx, team, parseTemplateReference(fromTemplate))
    return { kind: 'template', reference: fromTemplate, buildId: build.buildId }
  } catch (err) {
    if (isAppError(err)) return err.message
    throw err
  }
}
