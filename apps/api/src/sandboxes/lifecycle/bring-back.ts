import { AppError } from '@sandyard/kit/errors/app-error'
import { within } from '@sandyard/kit/async/within'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { Keep, PauseHandle, Resumed, SandboxEndpoint } from '@sandyard/runtime/types'
import type { Turn } from '../../admission/admission.ts'
import type { Actor } from '../../events/actor.ts'
import { teamTransaction } from '../../teams/team-transaction.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import { prepareDaemon } from '../start/prepare-daemon.ts'
import { publishEndpoint } from '../start/publish-endpoint.ts'
import { trustAuthorities } from '../start/trust-authorities.ts'
import { tooManySandboxes } from '../sandbox-errors.ts'
import { countOccupied, type SandboxRow } from '../sandbox-queries.ts'
import { readNetwork } from '../network/read-network.ts'
import { sandboxSpec, type SandboxSource } from '../start/sandbox-spec.ts'
import { changeState, type StateChange } from '../sandbox-state.ts'
import { startError } from '../start/start-errors.ts'
import { refOf, type LifecycleParts } from './lifecycle-parts.ts'
import { loadSource } from './load-source.ts'
import { settleOrLater } from './settle-sandbox.ts'

/** A daemon that has been thawed answers at once. */
const TRUST_TIMEOUT_MS = 5000
/** Time for an aborted resume to end. */
const GRACE_MS = 2000

export interface ResumeWish {
  /** `memory`: as the pause kept it. */
  readonly keep: Keep
  readonly lifetimeSeconds: number
  readonly actor: Actor
  /** Replaces what happens at the end time. */
  readonly autoPause?: boolean
}

/**
 * Runs a paused sandbox again. Its lifetime starts when it runs. A failed resume leaves it paused, with its memory if it still has it.
 *
 * @returns false when another request has changed its state first
 * @throws AppError `resource_exhausted` at the team's limit; `unavailable` on a server that takes no sandboxes; those of control-plane.md 6.2.4
 */
export async function bringBack(parts: LifecycleParts, row: SandboxRow, wish: ResumeWish): Promise<boolean> {
  if (row.unresponsive_at_pause && isThaw(row, wish)) throw unresponsive(row.sandbox_id)
  if (!isThaw(row, wish)) parts.placement.assertAccepts()
  using _held = parts.inFlight.hold(refOf(row))
  if (!(await beginResume(parts, row, wish))) return false
  await parts.timings.time('resume', () => carryOutResume(parts, row, wish))
  return true
}

/** The second half of a resume, of a sandbox in state `resuming`. */
async function carryOutResume(parts: LifecycleParts, row: SandboxRow, wish: ResumeWish): Promise<void> {
  const ref = refOf(row)
  try {
    const began = performance.now()
    const { startTimeoutMs: timeoutMs } = parts
    const resumed = await parts.starts.run(ref, (ended) =>
      within({ what: 'the resume of the sandbox', timeoutMs, graceMs: GRACE_MS, signal: ended }, (signal) =>
        admitted(parts, { row, keep: wish.keep }, signal),
      ),
    )
    const isOurs = await parts.database.transaction((tx) => changeState(tx, ref, running(row, { resumed, wish }, parts.serverId)))
    if (!isOurs) throw new Error('the sandbox was killed meanwhile, or the lease of this server has ended')
    parts.log.info({ ...ref, restored: resumed.restored, ms: Math.round(performance.now() - began) }, 'sandbox resumed')
  } catch (err) {
    parts.log.warn({ err, ...ref }, 'sandbox could not be resumed')
    await settleOrLater(parts, ref)
    throw startError(err)
  }
}

/** The limit of the team holds under concurrency: its starts are serialised here. */
function beginResume(
  { database, limits, serverId }: LifecycleParts,
  row: SandboxRow,
  { keep, actor, autoPause }: ResumeWish,
): Promise<boolean> {
  return teamTransaction(database, { teamId: row.team_id }, async ({ tx, own }) => {
    const { concurrentSandboxes: limit } = limitsOf(limits, own)
    if ((await countOccupied(tx, row.team_id)) >= limit) throw tooManySandboxes(limit, own)
    const event = { kind: 'sandbox.resuming', data: { keep } } as const
    const set = { server_id: serverId, home_server_id: serverId, ...(autoPause !== undefined && { auto_pause: autoPause }) }
    return changeState(tx, refOf(row), { from: 'paused', to: 'resuming', actor, serverId, event, set })
  })
}

/** Its processes stand still on the engine: nothing is started. */
function isThaw({ pause_keep: kept }: SandboxRow, { keep }: Pick<ResumeWish, 'keep'>): boolean {
  return keep === 'memory' && kept === 'memory'
}

/** A thaw needs neither a turn nor memory that the sandbox has not had before. */
function admitted(parts: LifecycleParts, wanted: { readonly row: SandboxRow; readonly keep: Keep }, signal: AbortSignal): Promise<Resumed> {
  const { row, keep } = wanted
  if (isThaw(row, { keep })) return resume(parts, wanted, signal)
  const request = { teamId: row.team_id, memoryMib: row.memory_mib }
  return parts.admission.run(request, signal, (turn) => resume(parts, { ...wanted, turn }, signal))
}

async function resume(
  parts: LifecycleParts,
  { row, keep, turn }: { readonly row: SandboxRow; readonly keep: Keep; readonly turn?: Turn },
  signal: AbortSignal,
): Promise<Resumed> {
  const { db } = parts.database
  const [loaded, network] = await Promise.all([loadSource(db, row), readNetwork(db, refOf(row))])
  const source = { ...loaded, ...network }
  const spec = sandboxSpec(source, parts.tokenSeed)
  const resumed = await inSpan('engine resume', { 'sandyard.sandbox_id': row.sandbox_id, 'sandyard.keep': keep }, () =>
    parts.runtime.resume(row.pause_handle as PauseHandle, { spec, keep }, signal),
  )
  turn?.end()
  await publishEndpoint(parts.database.db, source, { endpoint: resumed.endpoint, egress: spec.egress })
  if (resumed.restored === 'files') await prepareDaemon(parts, { source, endpoint: resumed.endpoint, envVars: {} }, signal)
  else await trustAgain(parts, source, resumed.endpoint)
  return resumed
}

/**
 * Header rules and settings of the installation may have come while it was paused. What its own processes did to its trust store or its daemon
 * must not stop the resume.
 */
async function trustAgain(parts: LifecycleParts, source: SandboxSource, endpoint: SandboxEndpoint): Promise<void> {
  const what = 'the trust in the authorities of the sandbox'
  await within({ what, timeoutMs: TRUST_TIMEOUT_MS }, (signal) => trustAuthorities(parts, source, endpoint, signal)).catch((err: unknown) =>
    parts.log.warn({ err, sandboxId: source.sandboxId }, 'a resumed sandbox does not trust its authorities'),
  )
}

function running(
  row: SandboxRow,
  { resumed, wish }: { readonly resumed: Resumed; readonly wish: ResumeWish },
  serverId: number,
): StateChange {
  const { endpoint, restored } = resumed
  const { keep, lifetimeSeconds, actor } = wish
  return {
    ...(isThaw(row, wish) && restored === 'files' && { memoryLost: 'processes_ended' }),
    from: 'resuming',
    to: 'running',
    actor,
    serverId,
    owner: serverId,
    endpoint,
    lifetimeSeconds,
    event: { kind: 'sandbox.resumed', data: { keep, restored } },
    set: { pause_keep: null, pause_handle: null, paused_at: null, unresponsive_at_pause: false },
  }
}

/** Its memory holds a daemon that does not answer (clients-python-2.63.md 6). */
function unresponsive(sandboxId: string): AppError {
  const message = `The daemon of sandbox '${sandboxId}' did not answer when it was paused: resume it with memory: false`
  return new AppError('conflict', message, { reason: 'sandbox_snapshot_guest_agent_unresponsive' })
}
