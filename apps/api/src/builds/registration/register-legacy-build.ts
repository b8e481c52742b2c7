import { TEMPLATE_DEFAULTS, type TemplateBuildRequest } from '@sandyard/api-contract/builds/register-build'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxResources } from '@sandyard/runtime/types'
import { findTeamForOwner, getActingTeam } from '../../auth/acting-team.ts'
import type { Principal } from '../../auth/principal.ts'
import type { IdempotentOperation } from '../../idempotency/remembered-answer.ts'
import type { Team } from '../../teams/team.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import { findTemplateById } from '../../templates/template-queries.ts'
import { DEFAULT_TAG } from '../../templates/template-reference.ts'
import { shorten } from '../../text/shorten.ts'
import { readLegacyAlias } from './build-name.ts'
import type { BuildParts } from '../build-parts.ts'
import { checkStorable } from '../start/check-storable.ts'
import { checkDockerfileAside } from '../dockerfile/dockerfile-checks.ts'
import { toLegacyPlan } from '../build-plan.ts'
import { registerBuild, type Registration } from './register-build.ts'
import { getRegisteredTemplate, type RegisteredTemplate } from './registered-template.ts'
import { checkTemplateSize } from './template-size.ts'

/**
 * Registers the first build of a new template; a later request starts it. Without the text of a Dockerfile the client would have to push an
 * image, which this server does not accept: the start reports that. The checks run in the order of control-plane.md 10.2.
 *
 * @throws AppError with the texts of control-plane.md 10.2 and 10.3; `invalid_argument` for a Dockerfile that cannot be built
 */
export async function createLegacyTemplate(
  parts: BuildParts,
  principal: Principal | null,
  { body, operation }: { readonly body: TemplateBuildRequest; readonly operation: IdempotentOperation },
): Promise<RegisteredTemplate> {
  checkTexts(body)
  const team = await getActingTeam(parts.database.db, principal, { teamId: body.teamID })
  const { alias, resources } = checkShape(parts, team, body)
  if (body.dockerfile.trim() !== '') await checkDockerfileAside(body.dockerfile, team.id)
  return register(parts, {
    team,
    userId: principal?.user?.id,
    target: { kind: 'new', alias },
    resources,
    legacy: commandsOf(body),
    operation,
  })
}

/**
 * Registers and starts another build of a template: its status is `building` in the answer (design.md 3a). Ends builds in progress for the
 * default tag.
 *
 * @throws AppError like `createLegacyTemplate`, and for a template that is unknown or belongs to another team
 */
export async function rebuildTemplate(
  parts: BuildParts,
  principal: Principal | null,
  {
    templateId,
    body,
    operation,
  }: { readonly templateId: string; readonly body: TemplateBuildRequest; readonly operation: IdempotentOperation },
): Promise<RegisteredTemplate> {
  checkTexts(body)
  const team = await getTeamOf(parts, principal, templateId, body.teamID)
  const { alias, resources } = checkShape(parts, team, body)
  const legacy = commandsOf(body)
  await checkDockerfileAside(body.dockerfile, team.id)
  const plan = toLegacyPlan(legacy)
  const target = { kind: 'existing', templateId, alias } as const
  return register(parts, { team, userId: principal?.user?.id, target, resources, legacy, order: { plan, builderVersion: 'v1' }, operation })
}

/** The team that may rebuild a template. The path must have its exact id. */
async function getTeamOf(parts: BuildParts, principal: Principal | null, templateId: string, teamId: string | undefined): Promise<Team> {
  const { db } = parts.database
  if (!/^[a-z0-9_-]+$/.test(templateId)) throw new AppError('invalid_argument', `Invalid template ID: ${shorten(templateId)}`)
  if (teamId !== undefined) await getActingTeam(db, principal, { teamId })
  const template = await findTemplateById(db, templateId)
  if (template === undefined) throw new AppError('not_found', `Template '${shorten(templateId)}' not found`)
  const team = await findTeamForOwner(db, principal, { ownerId: template.teamId, teamId })
  if (team === undefined) throw new AppError('permission_denied', `You do not have access to the template '${templateId}'`)
  return team
}

function checkTexts({ dockerfile, startCmd, readyCmd }: TemplateBuildRequest): void {
  checkStorable({ dockerfile, startCmd, readyCmd })
}

function checkShape(parts: BuildParts, team: Team, body: TemplateBuildRequest): { alias: string | undefined; resources: SandboxResources } {
  const { cpuCount = TEMPLATE_DEFAULTS.cpuCount, memoryMB = TEMPLATE_DEFAULTS.memoryMb } = body
  const resources = checkTemplateSize({ cpuCount, memoryMib: memoryMB }, limitsOf(parts.limits, team.limits))
  return { alias: body.alias === undefined ? undefined : readLegacyAlias(team, body.alias), resources }
}

function commandsOf({ dockerfile, startCmd = '', readyCmd = '' }: TemplateBuildRequest) {
  return { dockerfile, startCmd: startCmd === '' ? undefined : startCmd, readyCmd: readyCmd === '' ? undefined : readyCmd }
}

async function register(parts: BuildParts, registration: Omit<Registration, 'tags'>): Promise<RegisteredTemplate> {
  const { buildId } = await registerBuild(parts, { ...registration, tags: [DEFAULT_TAG] })
  return getRegisteredTemplate(parts.database.db, buildId)
}
