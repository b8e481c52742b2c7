import { sql, type RawBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import type { AuditEntry, Caller } from './audit-entry.ts'

/** What has a row. */
export interface StoredEntry extends AuditEntry {
  readonly caller: Caller
}

export async function insertAudit(db: Db, entries: readonly StoredEntry[]): Promise<void> {
  const insertion = db.insertInto('audit').values(entries.map(toRow))
  // Batches of other sizes are other texts.
  await (entries.length === 1 ? insertion.modifyEnd(keptPlan) : insertion).execute()
}

/** The same as a part of the statement of a change: no row unless `changed` has one. */
export function auditingChange(entry: StoredEntry): RawBuilder<unknown> {
  const row = toRow(entry)
  return sql`insert into audit (created_at, team_id, actor, credential_id, user_id, client_address, request_id, operation, targets, status)
    select ${row.created_at}::timestamptz, ${row.team_id}::uuid, ${row.actor}::text, ${row.credential_id}::uuid, ${row.user_id}::uuid,
      ${row.client_address}::text, ${row.request_id}::text, ${row.operation}::text, ${row.targets}::jsonb, ${row.status}::integer from changed`
}

function toRow({ at, teamId, caller, clientAddress, requestId, operation, targets, status }: StoredEntry) {
  return {
    created_at: at,
    team_id: teamId ?? null,
    actor: caller.kind,
    credential_id: 'credentialId' in caller ? (caller.credentialId ?? null) : null,
    user_id: 'userId' in caller ? (caller.userId ?? null) : null,
    client_address: clientAddress,
    request_id: requestId,
    operation,
    targets: JSON.stringify(targets),
    status,
  }
}
