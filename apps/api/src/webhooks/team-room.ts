import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { sum, type Amount } from './store-deliveries.ts'

/** Deliveries of a team that are kept, those that wait and those that have ended. */
const CAP: Amount = { rows: 100_000, bytes: 256 * 1024 ** 2 }
/** Of one transaction, or one event that needs more. */
const BATCH: Amount = { rows: 1000, bytes: 4 * 1024 ** 2 }
/** Parts of the cap: how much of it may wait, what is left when it is enforced, and after how much that a server has written it is enforced again. */
const PARTS = { waiting: 0.8, kept: 0.9, written: 0.05 } as const
const MOST_DROPPED = 20_000
const STATEMENT_ROWS = 500
const MAX_TEAMS = 10_000

/**
 * Keeps the deliveries of each team under a cap. A count reads all deliveries of a team, so each server counts those of a team at the first write, and then
 * once for many writes. What servers write between their counts is added to the cap: a twentieth of it each.
 */
export class TeamRoom {
  readonly #cap: Amount
  /** Since the last count, by team. */
  readonly #written = new Map<string, Amount>()

  constructor(cap: Amount = CAP) {
    this.#cap = cap
  }

  /** What may be written in one transaction, and for a team in one turn. */
  get batch(): Amount {
    return least(BATCH, part(this.#cap, PARTS.written))
  }

  /** Takes what was written, and drops what no longer has room. */
  async add(db: Db, amounts: ReadonlyMap<string, Amount>): Promise<void> {
    for (const [teamId, amount] of amounts) {
      const before = this.#written.get(teamId)
      const written = sum(before, amount)
      if (before !== undefined && !isOver(written, part(this.#cap, PARTS.written))) {
        this.#written.set(teamId, written)
        continue
      }
      await dropExcess(db, teamId, this.#cap)
      if (this.#written.size >= MAX_TEAMS) this.#written.clear()
      this.#written.set(teamId, sum())
    }
  }
}

export function isOver(amount: Amount, most: Amount): boolean {
  return amount.rows >= most.rows || amount.bytes >= most.bytes
}

function part({ rows, bytes }: Amount, share: number): Amount {
  return { rows: Math.floor(rows * share), bytes: Math.floor(bytes * share) }
}

function least(one: Amount, other: Amount): Amount {
  return { rows: Math.min(one.rows, other.rows), bytes: Math.min(one.bytes, other.bytes) }
}

/** Gives up the oldest deliveries of those that wait, if they alone are too many, and deletes the oldest of those that have ended. */
async function dropExcess(db: Db, teamId: string, cap: Amount): Promise<void> {
  const [waiting, kept] = [part(cap, PARTS.waiting), part(cap, PARTS.kept)]
  // What is too much among some deliveries is too much among all: the inner limit bounds the statement where a former release has written more.
  const { rows } = await sql<{ id: string; isPending: boolean; isOver: boolean }>`
    select id, "isPending", "isOver" from (
      select id, "isPending", number > ${kept.rows} or bytes > ${kept.bytes} as "isOver",
        number > ${waiting.rows} or bytes > ${waiting.bytes} as "isOverWaiting"
      from (
        select id, "isPending", row_number() over newest as number, sum(size) over newest as bytes from (
          select delivery_id as id, event_id, status = 'pending' as "isPending", octet_length(body) as size
          from webhook join webhook_delivery as delivery using (webhook_id) where webhook.team_id = ${teamId} limit ${3 * CAP.rows}
        ) as delivery
        window newest as (order by "isPending" desc, event_id desc, id desc rows unbounded preceding)
      ) as counted
    ) as judged
    where "isOver" or ("isPending" and "isOverWaiting") limit ${MOST_DROPPED}
  `.execute(db)
  await inParts(
    rows.filter(({ isPending }) => isPending),
    (ids) =>
      sql`
    update webhook_delivery set status = 'dead' where delivery_id = any(array(
      select delivery_id from webhook_delivery where delivery_id = any(${ids}::uuid[]) and status = 'pending' and lease_until is null
      order by delivery_id for update skip locked
    ))
  `.execute(db),
  )
  await inParts(
    rows.filter(({ isOver }) => isOver),
    (ids) =>
      sql`
    delete from webhook_delivery where delivery_id = any(array(
      select delivery_id from webhook_delivery where delivery_id = any(${ids}::uuid[]) and status <> 'pending'
      order by delivery_id for update skip locked
    ))
  `.execute(db),
  )
}

async function inParts(rows: readonly { readonly id: string }[], work: (ids: string[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < rows.length; at += STATEMENT_ROWS) await work(rows.slice(at, at + STATEMENT_ROWS).map(({ id }) => id))
}
