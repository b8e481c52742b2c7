import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import type { WantedStatus } from '@sandyard/db/schema/server'

/** What an administrator wants of this server, and since when by the clock of the database. */
export interface Order {
  readonly status: WantedStatus
  readonly since: Date | null
}

/**
 * Whether this server takes new sandboxes and builds (control-plane.md 13.1). It follows its row: at once where the order was given, otherwise by a
 * notification, and by the next heartbeat if that was lost.
 */
export class Placement {
  readonly #followers: ((status: WantedStatus) => void)[] = []
  #order: Order = { status: 'ready', since: null }

  get status(): WantedStatus {
    return this.#order.status
  }

  get accepts(): boolean {
    return this.#order.status === 'ready'
  }

  /** Called after each change. */
  onChange(follow: (status: WantedStatus) => void): void {
    this.#followers.push(follow)
  }

  /** Ignores an order that is older than the one it follows: answers of the database can overtake each other. */
  follow(order: Order): void {
    const former = this.#order
    if ((order.since?.getTime() ?? 0) < (former.since?.getTime() ?? 0)) return
    this.#order = order
    if (order.status !== former.status) for (const follow of this.#followers) follow(order.status)
  }

  /** Reads the row of the server. A server without one goes on as it is. */
  async read(db: Db, serverId: number): Promise<void> {
    const row = await db
      .selectFrom('server')
      .select(['wanted_status', 'status_changed_at'])
      .where('server_id', '=', serverId)
      .executeTakeFirst()
    if (row !== undefined) this.follow({ status: row.wanted_status, since: row.status_changed_at })
  }

  /**
   * To be called before anything has changed, because the answer says that clients may repeat the request: another server may take it.
   *
   * @throws AppError `unavailable` (control-plane.md 6.2.4)
   */
  assertAccepts(): void {
    if (this.accepts) return
    throw new AppError(
      'unavailable',
      'Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly',
      { reason: 'sandbox_capacity_unavailable', headers: { 'should-retry': 'true', 'retry-after': '1' } },
    )
  }
}
