import type { Tx } from '@sandyard/db/database'
import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import type { SandboxResources } from '@sandyard/runtime/types'
import { appendEvent } from '../../events/event-log.ts'
import { checkTemplateScope } from '../../auth/key-scopes.ts'
import { countTemplates, tooManyTemplates } from '../../teams/kept-counts.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import type { Team } from '../../teams/team.ts'
import { findTemplateByAlias } from '../../templates/template-queries.ts'
import { createOnceInTeam } from '../../idempotency/create-once.ts'
import type { IdempotentOperation } from '../../idempotency/remembered-answer.ts'
import { countBuild, insertTemplate } from '../../templates/template-writes.ts'
import { templateDeleted, tooManyBuilds } from '../build-errors.ts'
import type { BuildParts } from '../build-parts.ts'
import { claimAlias } from './claim-alias.ts'
import { insertBuild, type NewBuild } from './insert-build.ts'
import { endOlderBuilds } from '../queue/end-older-builds.ts'
import { enqueueBuild, type BuildOrder } from '../queue/enqueue-build.ts'
import { countUnfinished } from '../queue/count-unfinished.ts'

/** The template of a build. */
type BuildTarget =
  /** The team's template with this name, or a new one. */
  | { readonly kind: 'named'; readonly alias: string }
  /** Always a new one. */
  | { readonly kind: 'new'; readonly alias?: string | undefined }
  /** This template of the team, which gets the name. */
  | { readonly kind: 'existing'; readonly templateId: string; readonly alias?: string | undefined }

/** Additional input of a first-generation build. */
interface LegacyBuild {
  readonly dockerfile: string
  readonly startCmd: string | undefined
  readonly readyCmd: string | undefined
}

export interface Registration {
  readonly team: Team
  /** The creator of a new template. */
  readonly userId: string | undefined
  /** Of the API key, if it has one. */
  readonly scope?: KeyScope | undefined
  readonly target: BuildTarget
  /** At least one. */
  readonly tags: readonly string[]
  readonly resources: SandboxResources
  readonly legacy?: LegacyBuild
  /** If given, the registration also starts the build. */
  readonly order?: Pick<BuildOrder, 'plan' | 'builderVersion'>
  readonly operation: IdempotentOperation
}

/**
 * Registers a build, and its template if it is new, in one transaction. Registrations of a team are serialised, so that the limit and the
 * names hold under concurrency. Assigns the tags, and ends builds that were registered for one of them and never started (control-plane.md
 * 10.3).
 *
 * @throws AppError `unprocessable` for an idempotency key of another request, `resource_exhausted` at a limit, `conflict` and `permission_denied` for a name that is taken, `not_found` for a
 * deleted template; then nothing has changed
 */
export async function registerBuild(parts: BuildParts, registration: Registration): Promise<{ templateId: string; buildId: string }> {
  const { team, target, tags, resources, order } = registration
  const once = { tokenSeed: parts.tokenSeed, ownerId: team.id, ...registration.operation }
  return createOnceInTeam(parts.database, once, async ({ tx, own }) => {
    const { concurrentBuilds: limit, maxTemplates } = limitsOf(parts.limits, own)
    const known = await findTarget(tx, registration)
    if (known !== undefined) await endOlderBuilds(tx, { templateId: known, tags }, { alsoInProgress: order !== undefined })
    if ((await countUnfinished(tx, team.id)) >= limit) throw tooManyBuilds(limit, own)
    if (known === undefined && (await countTemplates(tx, team.id)) >= maxTemplates) throw tooManyTemplates(maxTemplates, own)
    const templateId = known ?? (await insertTemplate(tx, { teamId: team.id, source: 'template', userId: registration.userId }))
    if (target.alias !== undefined) await claimAlias(tx, { alias: target.alias, namespace: team.slug, templateId })
    if (!(await countBuild(tx, templateId))) throw templateDeleted(templateId)
    const buildId = await insertBuild(tx, { templateId, resources, tags, more: generationOf(registration) })
    await appendEvent(tx, { teamId: team.id, kind: 'template.build_registered', subject: templateId, data: { buildId } })
    if (order !== undefined) await enqueueBuild(tx, parts.tokenSeed, { ...order, buildId, teamId: team.id })
    return { templateId, buildId }
  })
}

async function findTarget(tx: Tx, { team, target, scope }: Registration): Promise<string | undefined> {
  if (target.kind === 'new') return undefined
  if (target.kind === 'existing') return target.templateId
  const named = await findTemplateByAlias(tx, target.alias, team.slug)
  if (named !== undefined) checkTemplateScope(scope, named)
  return named?.templateId
}

function generationOf({ legacy, order }: Registration): NonNullable<NewBuild['more']> {
  return {
    builder_version: legacy === undefined ? null : 'v1',
    dockerfile: legacy?.dockerfile ?? null,
    start_cmd: legacy?.startCmd ?? null,
    ready_cmd: legacy?.readyCmd ?? null,
    starts_itself: order !== undefined,
  }
}
