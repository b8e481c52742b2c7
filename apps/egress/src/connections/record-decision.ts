import type { EgressContext } from '../context.ts'
import type { DecidedBy } from '../decisions/decision-log.ts'
import type { Connection } from './connection.ts'

/** Counts a decision on a connection and keeps it for the history of its sandbox. */
export function recordDecision(
  ctx: EgressContext,
  { sandbox, destination: { address, port } }: Pick<Connection, 'sandbox' | 'destination'>,
  { verdict, rule, name }: { readonly verdict: 'allow' | 'deny'; readonly rule: DecidedBy; readonly name?: string | undefined },
): void {
  ctx.metrics.countConnection(verdict, rule)
  const { sandboxId, teamId } = sandbox()
  ctx.decisions.add({ sandboxId, teamId, verdict, rule, name, address, port })
}
