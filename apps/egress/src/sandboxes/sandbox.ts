import type { Policy } from '../policy/compile-policy.ts'

/** A sandbox that runs, as the gateway sees it. */
export interface EgressSandbox {
  readonly sandboxId: string
  readonly teamId: string
  /** The source of its connections, which it cannot forge. */
  readonly address: string
  /** Identifies the run: a later one has other values. */
  readonly incarnation: number
  readonly startedAt: number | undefined
  readonly policy: Policy
  /** The audiences of the identity tokens that its rules may name, by the names of the tokens. */
  readonly identityTokens: ReadonlyMap<string, string>
}

/** Whether two rows are of the same run. */
export function isSameRun(a: EgressSandbox | undefined, b: EgressSandbox): a is EgressSandbox {
  return a?.sandboxId === b.sandboxId && a.incarnation === b.incarnation && a.startedAt === b.startedAt && a.address === b.address
}
