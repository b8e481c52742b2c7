import type { NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Actor } from '../../events/actor.ts'
import type { Team } from '../../teams/team.ts'
import { resolveTemplate } from '../../templates/resolve-template.ts'
import { parseTemplateReference, type TemplateReference } from '../../templates/template-reference.ts'
import { checkIam } from './check-iam.ts'
import { checkLifetime } from '../check-lifetime.ts'
import { checkAutoPause, checkPublicTraffic, checkSecureSupport, checkServedFields, checkTexts } from './check-new-sandbox.ts'
import { findRemembered, type IdempotentRequest } from '../idempotency.ts'
import { checkNetwork } from '../network/check-network.ts'
import { isPublic } from '../network/stored-network.ts'
import { reserveSandbox } from './reserve-sandbox.ts'
import type { SandboxLimits } from '../sandbox-limits.ts'
import { toSettings } from './sandbox-settings.ts'
import type { SandboxAnswer } from '../read/sandbox-view.ts'
import { startSandbox, type StartParts } from '../start/start-sandbox.ts'

export interface CreateParts extends StartParts {
  readonly limits: SandboxLimits
}

export interface CreateRequest {
  readonly body: NewSandbox
  /** The defaults of the route generation for absent fields (clients.md 2.4). */
  readonly defaults: { readonly timeout: number; readonly secure: boolean }
  readonly idempotent: IdempotentRequest | undefined
  readonly actor: Actor
}

/**
 * Creates a sandbox and returns when it accepts requests. Checks run in the order of control-plane.md 6.2.2.
 *
 * @throws AppError of control-plane.md 2.4, 6.2.3 and 6.2.4; `unimplemented` for an unsupported field
 */
export async function createSandbox(parts: CreateParts, team: Team, request: CreateRequest): Promise<SandboxAnswer> {
  const { body, defaults, idempotent, actor } = request
  const { database, limits } = parts
  if (idempotent !== undefined) {
    const remembered = await findRemembered(database.db, team.id, idempotent)
    if (remembered !== undefined) return remembered
  }
  const { template, build } = await resolveTemplate(database.db, team, readReference(body.templateID))
  const lifetimeSeconds = body.timeout ?? defaults.timeout
  checkLifetime(lifetimeSeconds, limits.maxLifetimeSeconds)
  checkAutoPause(body)
  const isSecure = body.secure ?? defaults.secure
  if (isSecure) checkSecureSupport(build.envdVersion)
  checkIam(body.iam)
  checkNetwork(body.network ?? {}, build.envdVersion)
  checkPublicTraffic(body.network, isSecure)
  checkTexts(body)
  checkServedFields(body)

  const reserved = await reserveSandbox(database, {
    teamId: team.id,
    template,
    build,
    isSecure,
    settings: toSettings(body, lifetimeSeconds, limits.maxLifetimeSeconds),
    idempotent,
    serverId: parts.serverId,
    actor,
    limit: limits.concurrentSandboxes,
  })
  if ('remembered' in reserved) return reserved.remembered
  return startSandbox(parts, {
    ...reserved.ref,
    templateId: template.templateId,
    alias: template.alias,
    build,
    isSecure,
    isPublic: isPublic(body.network),
    envVars: body.envVars ?? {},
    lifetimeSeconds,
    actor,
    isRepeatable: idempotent !== undefined,
  })
}

function readReference(text: string): TemplateReference {
  try {
    return parseTemplateReference(text)
  } catch (cause) {
    throw new AppError('invalid_argument', `Invalid template reference: ${(cause as Error).message}`, { cause })
  }
}
