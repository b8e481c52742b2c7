import type { RawBuilder } from 'kysely'

/**
 * The record of a call whose change stores it in its own statement: the call waits for the disk once and not twice, and the change is never without its
 * record. For calls that clients wait for by the millisecond; `AuditLog` stores the records of all others.
 */
export interface ChangeAudit<Answer> {
  /** Inserts the record of the call that is answered so. It reads `changed`, which has one row if the change is made and none otherwise. */
  statement(answer: Answer): RawBuilder<unknown>
  /** To be called when the change is made. */
  stored(): void
}
