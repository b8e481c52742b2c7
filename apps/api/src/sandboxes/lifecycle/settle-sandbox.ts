import type { Selectable } from 'kysely'
import type { SandboxTable } from '@sandyard/db/schema/sandbox'
import { within } from '@sandyard/kit/async/within'
import type { PauseHandle, Resumed, RuntimeState, SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../../events/actor.ts'
import { beginEnd, killing } from '../end/end-sandbox.ts'
import { sandboxSpec } from '../start/sandbox-spec.ts'
import { changeState, type StateChange } from '../sandbox-state.ts'
import { refOf, type LifecycleParts } from './lifecycle-parts.ts'
import { loadSource } from './load-source.ts'
import { askForPause, paused } from './pause-steps.ts'

export type SettleParts = Pick<
  LifecycleParts,
  'database' | 'runtime' | 'serverId' | 'tokenSeed' | 'timings' | 'inFlight' | 'endReasons' | 'log'
>

const LIST_TIMEOUT_MS = 30_000
const THAW_TIMEOUT_MS = 30_000

/**
 * Brings a sandbox whose transition failed, or whose server died in it, to a state in which it stays: what failed to pause runs, what failed
 * to resume is paused, what was being snapshotted runs. What has no processes any more is paused with its files. Does nothing in other
 * states, and for a transition that another server has taken over.
 *
 * @throws AppError of the runtime; then the state stays, and the reconciler repeats it
 */
export async function settle(parts: SettleParts, ref: SandboxRef): Promise<void> {
  const row = await parts.database.db
    .selectFrom('sandbox')
    .selectAll()
    .where('sandbox_id', '=', ref.sandboxId)
    .where('incarnation', '=', ref.incarnation)
    .where('state', 'in', ['pausing', 'resuming', 'snapshotting'])
    .where('server_id', '=', parts.serverId)
    .executeTakeFirst()
  if (row === undefined) return
  const state = await stateOf(parts, ref)
  if (state === undefined) {
    parts.log.warn({ ...ref }, 'sandbox is lost')
    await beginEnd(parts.database, ref, { ...killing('lost', SERVER, row.state), owner: parts.serverId })
    return
  }
  const change = await settled(parts, { ...ref, row }, state)
  await parts.database.transaction((tx) => changeState(tx, ref, { ...change, owner: parts.serverId }))
}

/** Like `settle`, for a caller that has another error to report: the reconciler of this server does what fails. Never rejects. */
export async function settleOrLater(parts: SettleParts, ref: SandboxRef): Promise<void> {
  await settle(parts, ref).catch((err: unknown) => parts.log.error({ err, ...ref }, 'a failed transition was not settled yet'))
}

/** Makes the runtime's sandbox agree with the state that it returns. */
async function settled(
  parts: SettleParts,
  { row, ...ref }: SandboxRef & { readonly row: Selectable<SandboxTable> },
  state: RuntimeState,
): Promise<StateChange> {
  const from = row.state
  if (from === 'snapshotting' && state === 'stopped') return killing(await parts.endReasons.reasonOf(ref), SERVER)
  // A sandbox with a handle was paused before: it was resuming, or its memory was being dropped.
  if (row.pause_handle === null && state !== 'stopped') {
    const event = { kind: from === 'snapshotting' ? 'sandbox.snapshot_failed' : 'sandbox.pause_failed' } as const
    const change: StateChange = { from, to: 'running', actor: SERVER, event, set: { pause_keep: null } }
    // A pause without memory begins with the end of the network, so the address may belong to another sandbox by now.
    const isIntact = state === 'running' && row.pause_keep !== 'files'
    if (isIntact) return change
    const resumed = await runAgain(parts, row)
    if (resumed.restored === 'memory') return { ...change, endpoint: resumed.endpoint }
    // Its processes ended meanwhile, and nothing has prepared the daemon of the new ones.
    if (from === 'snapshotting') return killing('lost', SERVER)
  }
  const former = row.pause_handle as PauseHandle | null
  const keep = state === 'stopped' || former === null || row.pause_keep === 'files' ? 'files' : 'memory'
  const handle = await askForPause(parts.runtime, ref, { keep, former })
  const kind = from === 'resuming' ? 'sandbox.resume_failed' : 'sandbox.paused'
  const memoryLost = row.pause_keep === 'memory' && handle.keep === 'files' ? 'processes_ended' : undefined
  return paused(handle, { from, actor: SERVER, event: { kind, data: { keep: handle.keep } }, memoryLost })
}

/** The pause waits for a pause in flight of this server, so nothing stops the sandbox afterwards. */
async function runAgain({ runtime, database, tokenSeed }: SettleParts, row: Selectable<SandboxTable>): Promise<Resumed> {
  const handle = await askForPause(runtime, refOf(row), { keep: 'memory' })
  const spec = sandboxSpec(await loadSource(database.db, row), tokenSeed)
  return within({ what: 'the resume of the sandbox', timeoutMs: THAW_TIMEOUT_MS }, (signal) =>
    runtime.resume(handle, { spec, keep: 'memory' }, signal),
  )
}

async function stateOf({ runtime }: SettleParts, ref: SandboxRef): Promise<RuntimeState | undefined> {
  const listed = await within({ what: 'the list of sandboxes', timeoutMs: LIST_TIMEOUT_MS }, () => runtime.list(ref.sandboxId))
  return listed.find(({ incarnation }) => incarnation === ref.incarnation)?.state
}
