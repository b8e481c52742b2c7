import { randomUUID } from 'node:crypto'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import type { AuditLog } from '../../audit/audit-log.ts'
import { callerOf } from '../../http/to-audit-entry.ts'
import type { ConnectedPage } from '../live/live-hub.ts'

export interface TerminalAction {
  readonly operation: string
  readonly sandboxId: string
  readonly terminalId: string
  /** Why it failed. */
  readonly err?: unknown
}

/** Records what was done to a shell, as calls of operations are. */
export function auditTerminal(audit: AuditLog, { session, clientAddress }: ConnectedPage, action: TerminalAction): void {
  const { operation, sandboxId, terminalId, err } = action
  void audit.record({
    at: new Date(),
    caller: callerOf(session.principal),
    teamId: session.team?.id,
    clientAddress,
    requestId: randomUUID(),
    operation: `dashboard ${operation}`,
    targets: { sandboxID: sandboxId, terminalID: terminalId, via: 'dashboard' },
    status: err === undefined ? 200 : httpStatus(isAppError(err) ? err.kind : 'internal'),
    // Refused calls are in the log only: a page in a loop must not fill the table.
    isStored: err === undefined,
  })
}
