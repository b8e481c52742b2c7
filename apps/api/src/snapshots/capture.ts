import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Tx } from '@sandyard/db/database'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import { refOf, type LifecycleParts } from '../sandboxes/lifecycle/lifecycle-parts.ts'
import { settleOrLater } from '../sandboxes/lifecycle/settle-sandbox.ts'
import type { SandboxRow } from '../sandboxes/sandbox-queries.ts'
import { changeState, type StateChange } from '../sandboxes/sandbox-state.ts'

/** A commit of many GB takes minutes; a request is answered within 70 s. */
const CAPTURE_TIMEOUT_MS = 60_000

export interface CaptureRequest<T> {
  /** The runtime's name for the snapshot. */
  readonly name: string
  readonly actor: Actor
  /** Stores what the snapshot is for, in the transaction in which the sandbox runs again. Returns the event of the change. */
  readonly store: (tx: Tx, snapshot: RuntimeSnapshot) => Promise<{ readonly result: T; readonly event: StateChange['event'] }>
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
  const begin = { from: 'running', to: 'snapshotting', actor, serverId, set: { server_id: serverId } } as const
  const event = { kind: 'sandbox.snapshotting' } as const
  if (!(await database.transaction((tx) => changeState(tx, ref, { ...begin, event })))) return undefined
  return parts.timings.time('snapshot', () => carryOut(parts, ref, request))
}

/** The second half, of a sandbox in state `snapshotting`. */
async function carryOut<T>(parts: LifecycleParts, ref: SandboxRef, { name, actor, store }: CaptureRequest<T>): Promise<T> {
  const { database, runtime, serverId, log } = parts
  let snapshot: RuntimeSnapshot | undefined
  try {
    const taken = await inSpan('engine snapshot', { 'sandyard.sandbox_id': ref.sandboxId }, () =>
      within({ what: 'the snapshot of the sandbox', timeoutMs: CAPTURE_TIMEOUT_MS }, () => runtime.snapshot(ref, { name, keep: 'files' })),
    )
    snapshot = taken
    return await database.transaction(async (tx) => {
      const stored = await store(tx, taken)
      const isOurs = await changeState(tx, ref, { from: 'snapshotting', to: 'running', actor, owner: serverId, event: stored.event })
      if (!isOurs) throw new AppError('conflict', `Sandbox '${ref.sandboxId}' is being killed`)
      return stored.result
    })
  } catch (err) {
    log.warn({ err, ...ref }, 'sandbox could not be snapshotted')
    if (snapshot !== undefined) {
      // What cannot be deleted now is an image without a row, which the collector of images removes.
      await runtime
        .deleteSnapshot(snapshot)
        .catch((cause: unknown) => log.warn({ err: cause, name }, 'a snapshot could not be deleted yet'))
    }
    await settleOrLater(parts, ref)
    throw err
  }
}
