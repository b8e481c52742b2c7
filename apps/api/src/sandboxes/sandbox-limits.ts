export interface SandboxLimits {
  /** Concurrent sandboxes of a team. */
  readonly concurrentSandboxes: number
  readonly maxLifetimeSeconds: number
}
