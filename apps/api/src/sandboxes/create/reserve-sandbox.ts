import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import type { SandboxRef } from '@sandyard/runtime/types'
import { isDefaultEgress } from '@sandyard/runtime/open-egress'
import type { Actor } from '../../events/actor.ts'
import { tooManyPaused } from '../../teams/kept-counts.ts'
import { teamTransaction } from '../../teams/team-transaction.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import type { ReadyBuild, Template } from '../../templates/template.ts'
import { templateNotFound } from '../../templates/template-errors.ts'
import { claimKey, findRemembered, type IdempotentRequest } from '../../idempotency/sandbox-keys.ts'
import { toEgressPolicy } from '../network/to-egress-policy.ts'
import { tooManySandboxes } from '../sandbox-errors.ts'
import type { SandboxLimits } from '../sandbox-limits.ts'
import { isKept, isOccupied } from '../sandbox-queries.ts'
import { insertReserved, type InsertedRow } from '../sandbox-state.ts'
import { holdMounts } from './check-mounts.ts'
import type { SandboxSettings } from './sandbox-settings.ts'
import { rateExceeded, takeCreates, type CreateRate } from './take-creates.ts'
import type { SandboxAnswer } from '../read/sandbox-view.ts'
import type { Claiming, Parked } from '../../warm-pool/claim-parked.ts'
import type { WarmPool } from '../../warm-pool/warm-pool.ts'

export interface ReserveRequest {
  readonly teamId: string
  readonly template: Template
  readonly build: ReadyBuild
  readonly isSecure: boolean
  readonly settings: SandboxSettings
  readonly idempotent: IdempotentRequest | undefined
  readonly serverId: number
  readonly actor: Actor
  /** Those of the settings. */
  readonly limits: SandboxLimits
  readonly pool: Pick<WarmPool, 'claim'>
}

export type Reserved =
  | {
      readonly ref: SandboxRef
      /** The sandbox of the warm pool that was claimed. */
      readonly parked?: Parked
      /** What is left of the rate of creates; undefined for a team without one. */
      readonly rate: CreateRate | undefined
    }
  | { readonly remembered: SandboxAnswer }

/**
 * Reserves a new sandbox: claims one of the warm pool if one waits and it mounts no volumes, and inserts its row in state `starting` and its idempotency key, in one
 * transaction. Creates of one team are serialised here, so that the limit and the key hold under concurrency.
 *
 * @throws AppError `resource_exhausted` at a limit or above the rate; `not_found` when the template was deleted meanwhile, `invalid_argument` when
 * a volume was; those of the idempotency key
 */
export async function reserveSandbox(database: Database, request: ReserveRequest): Promise<Reserved> {
  const { teamId, idempotent, pool } = request
  const { allowInternetAccess, autoPause, network, volumeMounts } = request.settings
  return teamTransaction(database, { teamId }, async (team) => {
    const { tx, own } = team
    const limits = limitsOf(request.limits, own)
    const remembered = idempotent && (await findRemembered(tx, teamId, idempotent))
    if (remembered !== undefined) return { remembered }
    const { occupied, kept, isHeld } = await countAndHold(tx, request)
    if (occupied >= limits.concurrentSandboxes) throw tooManySandboxes(limits.concurrentSandboxes, own)
    if (autoPause && kept >= limits.maxPausedSandboxes) throw tooManyPaused(limits.maxPausedSandboxes, own)
    const rate = await takeCreates(team, { limits, wanted: 1 })
    if (rate?.granted === 0) throw rateExceeded(rate)
    if (!isHeld) throw templateNotFound({ key: request.template.templateId })
    await holdMounts(tx, teamId, volumeMounts)
    // The network of a claimed sandbox is changed before its daemon knows the claim, so such a claim must not be lost.
    const isDurable = !isDefaultEgress(toEgressPolicy(network, allowInternetAccess))
    // The mounts of a sandbox exist from its creation or not at all.
    const claiming = volumeMounts.length === 0 ? pool.claim(request.build.buildId, isDurable) : undefined
    const { ref, parked } = await insert(tx, request, claiming)
    if (idempotent !== undefined) await claimKey(tx, teamId, idempotent, ref.sandboxId)
    return { ref, rate, ...(parked !== undefined && { parked }) }
  })
}

/**
 * Counts the sandboxes of the team that run, and for a sandbox with `autoPause` those that it keeps. Locks the template against deletion until the end of the
 * transaction; one that was deleted meanwhile is not there.
 */
async function countAndHold(
  tx: Tx,
  { teamId, template, settings: { autoPause } }: ReserveRequest,
): Promise<{ occupied: number; kept: number; isHeld: boolean }> {
  const { rows } = await sql<{ occupied: number; kept: number; is_held: boolean }>`
    with held as materialized (
      select template_id from template where template_id = ${template.templateId} and deleted_at is null for key share
    )
    select (select count(*) from sandbox where team_id = ${teamId} and ${isOccupied}) as occupied,
      case when ${autoPause}::boolean then (select count(*) from sandbox where team_id = ${teamId} and ${isKept}) else 0 end as kept,
      exists (select from held) as is_held
    ${keptPlan}`.execute(tx)
  const { occupied = 0, kept = 0, is_held: isHeld = false } = rows[0] ?? {}
  return { occupied, kept, isHeld }
}

function insert(tx: Tx, request: ReserveRequest, claiming: Claiming | undefined): Promise<InsertedRow> {
  const { settings, actor } = request
  const data = { actor, ...(settings.mcp !== null && { mcp: Object.keys(settings.mcp) }) }
  const row = {
    team_id: request.teamId,
    template_id: request.template.templateId,
    build_id: request.build.buildId,
    alias: request.template.alias ?? null,
    state: 'starting',
    is_secure: request.isSecure,
    metadata: JSON.stringify(settings.metadata),
    allow_internet_access: settings.allowInternetAccess,
    auto_pause: settings.autoPause,
    auto_pause_memory: settings.autoPauseMemory,
    auto_resume: settings.autoResume,
    auto_resume_seconds: settings.autoResumeSeconds,
    network: JSON.stringify(settings.network),
    mcp: settings.mcp === null ? null : JSON.stringify(settings.mcp),
    iam: JSON.stringify(settings.iam),
    server_id: request.serverId,
    volume_mounts: JSON.stringify(settings.volumeMounts),
    home_server_id: request.serverId,
  } as const
  return insertReserved(tx, { row, event: { kind: 'sandbox.starting', data }, claiming })
}
