import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'
import type { Repairs } from '../repair/repairs.ts'
import type { SandboxRow } from '../sandbox-queries.ts'
import type { CreateParts } from '../create/create-sandbox.ts'
import type { EndReasons } from '../end/end-reasons.ts'
import type { SandboxChanges } from './sandbox-changes.ts'

/** What the transitions of a sandbox need. */
export interface LifecycleParts extends CreateParts {
  readonly changes: SandboxChanges
  /** Runs what goes on behind an answer: removals, pauses at the end time. */
  readonly repairs: Repairs
  readonly endReasons: EndReasons
}

/** How long a request waits for the transition of another request (control-plane.md 19.6). */
export const WAIT_MS = 60_000

export function refOf({ sandbox_id, incarnation }: Pick<SandboxRow, 'sandbox_id' | 'incarnation'>): SandboxRef {
  return { sandboxId: sandbox_id, incarnation }
}

/** The daemon of a running sandbox. @throws Error when the row has no address */
export function endpointOf({ endpoint_host: host, endpoint_daemon_port: daemonPort }: SandboxRow): SandboxEndpoint {
  if (host === null || daemonPort === null) throw new Error('a running sandbox has no address')
  return { host, daemonPort }
}
