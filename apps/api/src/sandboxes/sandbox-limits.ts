/** Limits of the sandboxes of a team (control-plane.md 3.2): those of the settings, or with what the row of a team changes. */
export interface SandboxLimits {
  /** Concurrent sandboxes of a team. */
  readonly concurrentSandboxes: number
  /** Sandboxes of a team that are paused, or will be at their end time. */
  readonly maxPausedSandboxes: number
  /** Snapshots that a team keeps. */
  readonly maxSnapshots: number
  readonly maxLifetimeSeconds: number
  /** Creates and forks of a team in a minute; undefined: no limit. */
  readonly createsPerMinute: number | undefined
  /** Those that may come at once; undefined: as many as in a minute. */
  readonly createBurst: number | undefined
}
