import type { NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { AppError } from '@sandyard/kit/errors/app-error'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { ChangeAudit } from '../../audit/change-audit.ts'
import type { Actor } from '../../events/actor.ts'
import type { Placement } from '../../servers/placement.ts'
import type { Team } from '../../teams/team.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import type { ReadyMade } from '../../ready-made/ready-made.ts'
import type { ReadyBuild } from '../../templates/template.ts'
import { DEFAULT_TAG, parseTemplateReference, type TemplateReference } from '../../templates/template-reference.ts'
import { checkLifetime } from '../check-lifetime.ts'
import { findRemembered, type IdempotentRequest } from '../../idempotency/sandbox-keys.ts'
import { checkNetwork } from '../network/check-network.ts'
import { type LookupHost, resolveEgressProxy } from '../network/resolve-egress-proxy.ts'
import { isPublic } from '../network/stored-network.ts'
import type { SandboxAnswer } from '../read/sandbox-view.ts'
import type { SandboxLimits } from '../sandbox-limits.ts'
import { startSandbox, type StartParts } from '../start/start-sandbox.ts'
import { checkIam } from './check-iam.ts'
import { checkAutoPause, checkPublicTraffic, checkSecureSupport, checkServedFields, checkTexts } from './check-new-sandbox.ts'
import { checkMounts } from './check-mounts.ts'
import { reserveSandbox } from './reserve-sandbox.ts'
import { toSettings } from './sandbox-settings.ts'
import { rateHeaders } from './take-creates.ts'
import type { WarmPool } from '../../warm-pool/warm-pool.ts'

export interface CreateParts extends StartParts {
  /** Those of the settings; the row of a team may have others. */
  readonly limits: SandboxLimits
  readonly lookupHost: LookupHost
  readonly pool: WarmPool
  readonly placement: Pick<Placement, 'assertAccepts'>
  readonly readyMade: Pick<ReadyMade, 'resolve'>
}

export interface CreateRequest {
  readonly body: NewSandbox
  /** The defaults of the route generation for absent fields (clients.md 2.4). */
  readonly defaults: { readonly timeout: number; readonly secure: boolean }
  readonly idempotent: IdempotentRequest | undefined
  readonly actor: Actor
  readonly audit: ChangeAudit<SandboxAnswer>
  /** Gets the headers of the answer that say what is left of the team's rate of creates, if it has one. */
  readonly onRate?: (headers: Readonly<Record<string, string>>) => void
}

/**
 * Creates a sandbox and returns when it accepts requests. Checks run in the order of control-plane.md 6.2.2.
 *
 * @throws AppError of control-plane.md 2.4, 6.2.3 and 6.2.4; `unimplemented` for an unsupported field
 */
export async function createSandbox(parts: CreateParts, team: Team, request: CreateRequest): Promise<SandboxAnswer> {
  const { body, idempotent, actor } = request
  const { database, limits } = parts
  if (idempotent !== undefined) {
    const remembered = await findRemembered(database.db, team.id, idempotent)
    if (remembered !== undefined) return remembered
  }
  parts.placement.assertAccepts()
  const { template, build, tag, isSecure, ...checked } = await inSpan('checks', {}, () => check(parts, team, request))
  const { maxLifetimeSeconds } = limitsOf(limits, team.limits)
  const settings = toSettings(body, { ...checked, maxLifetimeSeconds })
  const wanted = { template, build, isSecure, settings, idempotent, actor }
  const reserved = await parts.timings.timePhase('reserve', () =>
    reserveSandbox(database, { teamId: team.id, ...wanted, serverId: parts.serverId, limits, pool: parts.pool }),
  )
  if ('remembered' in reserved) return reserved.remembered
  const { ref, parked, rate } = reserved
  if (rate !== undefined) request.onRate?.(rateHeaders(rate))
  // The pool cannot serve a create with volumes, so it does not follow it.
  if (settings.volumeMounts.length === 0) {
    parts.pool.created({ templateId: template.templateId, tag }, parked === undefined ? 'missed' : 'claimed')
  }
  return startSandbox(parts, {
    ...ref,
    ...(parked !== undefined && { parked }),
    teamId: team.id,
    templateId: template.templateId,
    alias: template.alias,
    build,
    isSecure,
    network: settings.network,
    allowInternetAccess: settings.allowInternetAccess,
    isPublic: isPublic(body.network),
    envVars: body.envVars ?? {},
    volumeMounts: settings.volumeMounts,
    lifetimeSeconds: checked.lifetimeSeconds,
    actor,
    audit: request.audit,
    isRepeatable: idempotent !== undefined,
  })
}

/** All checks that need no lock. */
async function check(parts: CreateParts, team: Team, { body, defaults }: CreateRequest) {
  const reference = readReference(body.templateID)
  const found = await parts.readyMade.resolve(team, reference)
  const has = parts.runtime.capabilities()
  const { maxLifetimeSeconds } = limitsOf(parts.limits, team.limits)
  const checked = checkBody(body, { defaults, build: found.build, maxLifetimeSeconds })
  const { envdVersion } = found.build
  const volumeMounts = await checkMounts(parts.database.db, { teamId: team.id, mounts: body.volumeMounts ?? [], envdVersion, has })
  checkTexts(body)
  checkServedFields(body, has)
  await resolveEgressProxy(body.network?.egressProxy, parts.lookupHost)
  return { ...found, tag: reference.tag ?? DEFAULT_TAG, ...checked, volumeMounts }
}

interface CheckOptions extends Pick<CreateRequest, 'defaults'> {
  readonly build: Pick<ReadyBuild, 'envdVersion'>
  readonly maxLifetimeSeconds: number
}

/** The checks of the body after the look-up of its template, in the order of control-plane.md 6.2.2. Those of the volumes follow, then our own. */
function checkBody(
  body: NewSandbox,
  { defaults, build, maxLifetimeSeconds }: CheckOptions,
): { readonly lifetimeSeconds: number; readonly isSecure: boolean } {
  const lifetimeSeconds = body.timeout ?? defaults.timeout
  checkLifetime(lifetimeSeconds, maxLifetimeSeconds)
  checkAutoPause(body)
  const isSecure = body.secure ?? defaults.secure
  if (isSecure) checkSecureSupport(build.envdVersion)
  checkIam(body.iam)
  checkNetwork(body.network ?? {}, build.envdVersion)
  checkPublicTraffic(body.network, isSecure)
  return { lifetimeSeconds, isSecure }
}

function readReference(text: string): TemplateReference {
  try {
    return parseTemplateReference(text)
  } catch (cause) {
    throw new AppError('invalid_argument', `Invalid template reference: ${(cause as Error).message}`, { cause })
  }
}
