import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import { refOf, type LifecycleParts } from '../sandboxes/lifecycle/lifecycle-parts.ts'
import { settleOrLater } from '../sandboxes/lifecycle/settle-sandbox.ts'
import type { SandboxRow } from '../sandboxes/sandbox-queries.ts'
import { changeState, type StateChange } from '../sandboxes/sandbox-state.ts'
import { teamTransaction, type LockedTeam } from '../teams/team-transaction.ts'

/** A commit of many GB takes minutes; a request is answered within 70 s. */
const CAPTURE_TIMEOUT_MS = 60_000

export interface CaptureRequest<T> {
  /** The runtime's name for the snapshot. */
  readonly name: string
  readonly actor: Actor
  /** Stores what the snapshot is for, in the transaction in which the sandbox runs again. Returns the event of the change. */
  readonly store: (team: LockedTeam, snapshot: RuntimeSnapshot) => Promise<{ readonly result: T; readonly event: StateChange['event'] }>
}

/**
 * Takes a snapshot of the files of a running sandbox, which stands still meanwhile and then runs on. If it fails, nothing is stored and the
 * sandbox runs on.
 *
 * @returns undefined when another request has changed the state of the sandbox first
 * @throws AppError of `store`; `internal`, `deadline_exceeded`
 */
export async function capture<T>(parts: LifecycleParts, row: SandboxRow, request: CaptureRequest<T>): Promise<T | undefined> {
  const { database, serverId } = parts
  const { actor } = request
  const ref = refOf(row)
  using _held = parts.inFlight.hold(ref)
  const begin = { from: 'running', to: 'snapshotting', actor, serverId, set: { server_id: serverId } } as const
  const event = { kind: 'sandbox.snapshotting' } as const
  if (!(await database.transaction((tx) => changeState(tx, ref, { ...begin, event })))) return undefined
  return await parts.timings.time('snapshot', () => carryOut(parts, row, request))
}

/** The second half, of a sandbox in state `snapshotting`. */
async function carryOut<T>(parts: LifecycleParts, row: SandboxRow, { name, actor, store }: CaptureRequest<T>): Promise<T> {
  const { database, runtime, serverId, log } = parts
  const ref = refOf(row)
  /** Certain not to be stored. */
  let unstored: RuntimeSnapshot | undefined
  try {
    const taken = await inSpan('engine snapshot', { 'sandyard.sandbox_id': ref.sandboxId }, () =>
      within({ what: 'the snapshot of the sandbox', timeoutMs: CAPTURE_TIMEOUT_MS }, () => runtime.snapshot(ref, { name, keep: 'files' })),
    )
    unstored = taken
    // It is taken: neither the team's other requests nor a client that has gone make it useless.
    return await teamTransaction(database, { teamId: row.team_id, isUrgent: true }, async (team) => {
      const stored = await store(team, taken)
      const isOurs = await changeState(team.tx, ref, { from: 'snapshotting', to: 'running', actor, owner: serverId, event: stored.event })
      if (!isOurs) throw new AppError('conflict', `Sandbox '${ref.sandboxId}' is being killed`)
      // A commit that is not confirmed may have stored it.
      unstored = undefined
      return stored.result
    })
  } catch (err) {
    log.warn({ err, ...ref }, 'sandbox could not be snapshotted')
    if (unstored !== undefined) {
      // What is not deleted now is an image without a row, which the collector of images removes.
      await runtime
        .deleteSnapshot(unstored)
        .catch((cause: unknown) => log.warn({ err: cause, name }, 'a snapshot could not be deleted yet'))
    }
    await settleOrLater(parts, ref)
    throw err
  }
}
