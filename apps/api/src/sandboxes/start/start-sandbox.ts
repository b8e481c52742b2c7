import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxEndpoint } from '@sandyard/runtime/types'
import type { Admission, Turn } from '../../admission/admission.ts'
import type { ChangeAudit } from '../../audit/change-audit.ts'
import { SERVER, type Actor } from '../../events/actor.ts'
import type { SandboxTimings } from '../../metrics/sandbox-timings.ts'
import { beginEnd, finishEnd, killing } from '../end/end-sandbox.ts'
import { rememberingAnswer } from '../../idempotency/sandbox-keys.ts'
import type { SandboxAnswer } from '../read/sandbox-view.ts'
import { prepareDaemon } from './prepare-daemon.ts'
import type { InFlight } from '../lifecycle/in-flight.ts'
import { publishEndpoint } from './publish-endpoint.ts'
import { ensureVolumes } from './ensure-volumes.ts'
import { sandboxSpec, type SandboxSource } from './sandbox-spec.ts'
import { changeState, type StateChange } from '../sandbox-state.ts'
import { startError } from './start-errors.ts'
import type { StartsUnderWay } from './starts-under-way.ts'
import { takeClaimed } from './take-claimed.ts'
import type { Parked } from '../../warm-pool/claim-parked.ts'
import type { WarmPool } from '../../warm-pool/warm-pool.ts'

/** Time for an aborted start to undo its work. */
const GRACE_MS = 2000
/** Short, because the caller has already waited for the start. */
const UNDO_TIMEOUT_MS = 5000

export interface StartParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  /** Lets other servers check the lease of the server that runs the start. */
  readonly serverId: number
  readonly tokenSeed: Secret
  readonly outbound: Outbound
  readonly log: Logger
  readonly timings: SandboxTimings
  readonly starts: StartsUnderWay
  readonly pool: Pick<WarmPool, 'replace'>
  readonly admission: Admission
  readonly inFlight: InFlight
  /** Deadline of the whole start; well below the age at which reservations count as abandoned. */
  readonly startTimeoutMs: number
}

/** A reserved sandbox, about to be started. */
export interface Reservation extends SandboxSource {
  readonly teamId: string
  /** The template's name in answers. */
  readonly alias: string | undefined
  /** Its ports need no traffic token. */
  readonly isPublic: boolean
  readonly envVars: Readonly<Record<string, string>>
  readonly lifetimeSeconds: number
  readonly actor: Actor
  /** Stores the record of the call with the change to `running`. */
  readonly audit?: ChangeAudit<SandboxAnswer>
  /** The sandbox of the warm pool that this reservation has claimed. Absent: the sandbox is to be created. */
  readonly parked?: Parked
  /** An idempotency key waits for the answer. */
  readonly isRepeatable: boolean
}

/**
 * Starts a reserved sandbox and returns when its daemon answers and its row is `running`. Its lifetime starts then. A claimed sandbox that does
 * not work is replaced by a cold start. A failed start is undone; the reconciler retries an undo that fails.
 *
 * @throws AppError of control-plane.md 6.2.4
 */
export function startSandbox(parts: StartParts, reservation: Reservation): Promise<SandboxAnswer> {
  return parts.timings.time('create', () => start(parts, reservation))
}

async function start(parts: StartParts, reservation: Reservation): Promise<SandboxAnswer> {
  const { startTimeoutMs, serverId } = parts
  const deadline = performance.now() + startTimeoutMs
  using _held = parts.inFlight.hold(reservation)
  let current = reservation
  try {
    let endpoint = await takeClaimed(parts, current)
    if (endpoint === undefined) {
      if (current.parked !== undefined) current = { ...current, ...(await parts.pool.replace(current, current.parked.claim)) }
      endpoint = await startCold(parts, current, Math.max(0, Math.round(deadline - performance.now())))
    }
    const started = { endpoint, serverId }
    return await parts.timings.timePhase('commit', () => markRunning(parts.database.db, current, started))
  } catch (err) {
    parts.log.warn({ err, sandboxId: current.sandboxId }, 'sandbox start failed')
    await undo(parts, current)
    throw startError(err)
  }
}

function startCold(parts: StartParts, reservation: Reservation, timeoutMs: number): Promise<SandboxEndpoint> {
  const request = { teamId: reservation.teamId, memoryMib: reservation.build.memoryMib }
  return parts.starts.run(reservation, (ended) =>
    within({ what: 'the start of the sandbox', timeoutMs, graceMs: GRACE_MS, signal: ended }, (signal) =>
      parts.admission.run(request, signal, (turn) => bringUp(parts, { reservation, turn }, signal)),
    ),
  )
}

async function bringUp(
  parts: StartParts,
  { reservation, turn }: { readonly reservation: Reservation; readonly turn: Turn },
  signal: AbortSignal,
): Promise<SandboxEndpoint> {
  const { sandboxId, templateId, envVars, build } = reservation
  const began = performance.now()
  const spec = sandboxSpec(reservation, parts.tokenSeed)
  const { runtime } = parts
  await ensureVolumes(runtime, spec, signal)
  const endpoint = await inSpan('engine create', { 'sandyard.sandbox_id': sandboxId }, () =>
    build.snapshot === undefined ? runtime.create(spec, signal) : runtime.createFrom(build.snapshot, spec, signal),
  )
  const runtimeMs = Math.round(performance.now() - began)
  // The rest of the start is the work of the sandbox, whose start command may take long.
  turn.end()
  await publishEndpoint(parts.database.db, reservation, { endpoint, egress: spec.egress })
  parts.timings.phase('runtime', runtimeMs)
  const times = await prepareDaemon(parts, { source: reservation, endpoint, envVars }, signal)
  parts.timings.phase('daemon', times.daemonMs)
  parts.timings.phase('start_command', times.startCommandMs)
  parts.log.info({ sandboxId, templateId, runtimeMs, ...times }, 'sandbox started')
  return endpoint
}

/**
 * Changes the row, the start count, the event, the stored answer and the record of the call in one statement. A server whose lease has ended changes nothing:
 * other servers may have ended its starts.
 */
async function markRunning(
  db: Db,
  reservation: Reservation,
  { endpoint, serverId }: { readonly endpoint: SandboxEndpoint; readonly serverId: number },
): Promise<SandboxAnswer> {
  const { sandboxId, templateId, alias, build, isSecure, isPublic, isRepeatable, lifetimeSeconds, actor, audit } = reservation
  const event = { kind: 'sandbox.running' } as const
  const answer = { sandboxId, templateId, alias: alias ?? null, envdVersion: build.envdVersion ?? null, isSecure, isPublic }
  const counted = sql`insert into template_spawn (template_id) select ${templateId} from changed`
  const also = [counted, ...(isRepeatable ? [rememberingAnswer(answer)] : []), ...(audit ? [audit.statement(answer)] : [])]
  const change: StateChange = { from: 'starting', to: 'running', event, actor, endpoint, lifetimeSeconds, serverId, also }
  const isOurs = await changeState(db, reservation, { ...change, claim: reservation.parked?.claim })
  if (!isOurs) throw new Error('the reservation was abandoned, or the lease of this server has ended')
  audit?.stored()
  return answer
}

/**
 * Also undoes a start whose commit was not confirmed: no client knows the sandbox. With an idempotency key the commit has stored the answer, and
 * a repetition may have got it already, so what runs then stays. The reconciler does what fails or takes too long.
 */
async function undo(parts: StartParts, reservation: Reservation): Promise<void> {
  try {
    if (await beginUndo(parts, reservation)) await finishEnd(parts, reservation, UNDO_TIMEOUT_MS)
  } catch (err) {
    parts.log.error({ err, sandboxId: reservation.sandboxId }, 'failed sandbox start was not undone yet')
  }
}

/** Returns whether the sandbox is to be removed. */
async function beginUndo(parts: StartParts, reservation: Reservation): Promise<boolean> {
  const { isRepeatable, sandboxId, incarnation, parked } = reservation
  const { database } = parts
  try {
    const change = killing('create_failed', SERVER, isRepeatable ? 'starting' : undefined)
    if (await beginEnd(database, reservation, { ...change, claim: parked?.claim })) return true
    if (!isRepeatable && parked === undefined) return true
    const row = await database.db
      .selectFrom('sandbox')
      .select(['state', 'claim'])
      .where('sandbox_id', '=', sandboxId)
      .where('incarnation', '=', incarnation)
      .executeTakeFirst()
    // A claim that the database has lost: the sandbox belongs to the pool again, or to another create.
    if (parked !== undefined) return row?.state === 'killing' && row.claim === parked.claim
    return row === undefined || row.state === 'killing'
  } catch (err) {
    parts.inFlight.undoLater(reservation, () => beginUndo(parts, reservation))
    throw err
  }
}
