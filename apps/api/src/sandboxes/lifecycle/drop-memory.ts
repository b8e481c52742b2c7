import type { SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../../events/actor.ts'
import { changeState } from '../sandbox-state.ts'
import { askForPause, paused } from './pause-steps.ts'
import { settle, type SettleParts } from './settle-sandbox.ts'

/** Why a paused sandbox loses its memory: the engine ended its processes, or the host needs it. */
export type DropReason = 'engine_restarted' | 'memory_short'

/**
 * Turns a sandbox that is paused with its memory into one that is paused with its files only. Requests wait meanwhile, as during a pause.
 * Does nothing in another state.
 *
 * @throws AppError of the runtime; the sandbox is then paused as before
 */
export async function dropMemory(parts: SettleParts & { readonly serverId: number }, ref: SandboxRef, reason: DropReason): Promise<void> {
  const { database, serverId, log } = parts
  const begin = { from: 'paused', to: 'pausing', actor: SERVER, serverId, set: { server_id: serverId } } as const
  const event = { kind: 'sandbox.pausing', data: { keep: 'files', reason } } as const
  if (!(await database.transaction((tx) => changeState(tx, ref, { ...begin, event })))) return
  try {
    const handle = await askForPause(parts.runtime, ref, 'files')
    const change = paused(handle, { from: 'pausing', actor: SERVER, event: { kind: 'sandbox.memory_lost', data: { reason } } })
    await database.transaction((tx) => changeState(tx, ref, change))
    log.warn({ ...ref, reason }, 'a paused sandbox has lost its memory')
  } catch (err) {
    await settle(parts, ref)
    throw err
  }
}
