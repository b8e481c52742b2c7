import type { SandboxState } from '@sandyard/db/schema/sandbox'

/** The states of sandboxes that run for administrators and nodes: paused ones are not among them (control-plane.md 13). */
export const RUNNING_STATES: readonly SandboxState[] = ['running', 'pausing', 'snapshotting', 'resuming']
