import { sql } from 'kysely'
import { within } from '@sandyard/kit/async/within'
import { inSpan } from '@sandyard/kit/tracing/span'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { Keep, PauseHandle, SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../../events/actor.ts'
import type { StateChange } from '../sandbox-state.ts'

/** Deadline for the runtime to pause a sandbox. */
const PAUSE_TIMEOUT_MS = 30_000

export interface PauseWish {
  readonly keep: Keep
  readonly actor: Actor
  /** Whether the daemon answered just before. */
  readonly isResponsive: boolean
}

/** The state change that begins the pause of a running sandbox. From then on its traffic is stopped. */
export function pausing({ keep, actor, isResponsive }: PauseWish, serverId: number): StateChange {
  const event = { kind: 'sandbox.pausing', data: { keep } } as const
  const set = { pause_keep: keep, server_id: serverId, unresponsive_at_pause: !isResponsive }
  return { from: 'running', to: 'pausing', actor, serverId, event, set }
}

export interface PauseOrder {
  readonly keep: Keep
  /** Of the pause before: `memory` keeps only its memory. */
  readonly former?: PauseHandle | null
}

/** @throws AppError of the runtime; `deadline_exceeded` */
export function askForPause(runtime: SandboxRuntime, ref: SandboxRef, { keep, former }: PauseOrder): Promise<PauseHandle> {
  const attributes = { 'sandyard.sandbox_id': ref.sandboxId, 'sandyard.keep': keep }
  return inSpan('engine pause', attributes, () =>
    within({ what: 'the pause of the sandbox', timeoutMs: PAUSE_TIMEOUT_MS }, () => runtime.pause(ref, keep, former ?? undefined)),
  )
}

/** The state change to `paused`. The time of the pause stays the one at which the sandbox stopped running. */
export function paused(handle: PauseHandle, change: Pick<StateChange, 'from' | 'actor' | 'event' | 'memoryLost'>): StateChange {
  return {
    ...change,
    to: 'paused',
    set: {
      pause_keep: handle.keep,
      pause_handle: JSON.stringify(handle),
      paused_at: sql<Date>`coalesce(paused_at, clock_timestamp())`,
      endpoint_host: null,
      endpoint_daemon_port: null,
    },
  }
}
