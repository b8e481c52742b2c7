import type { Tx } from '@sandyard/db/database'

/** What the log tells of. `subject` is the id of the thing. */
export interface Event {
  readonly teamId: string
  readonly kind: 'sandbox.starting' | 'sandbox.running' | 'sandbox.killing' | 'sandbox.ended' | 'template.built'
  readonly subject: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** Appends events in the transaction that makes them true. */
export async function appendEvents(tx: Tx, events: readonly Event[]): Promise<void> {
  if (events.length === 0) return
  await tx
    .insertInto('event')
    .values(
      events.map(({ teamId, kind, subject, data }) => ({ team_id: teamId, kind, subject, ...(data && { data: JSON.stringify(data) }) })),
    )
    .execute()
}
