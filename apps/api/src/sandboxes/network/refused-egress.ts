import type { Database } from '@sandyard/db/database'
import { writeEgressDecisions } from '@sandyard/db/rows/write-egress-decisions'
import type { RefusedPackets } from '@sandyard/runtime/types'

/** Kinds of refusals that are kept between two writes; the runtime reports a sample of a few a second for each sandbox. */
const MAX_PENDING = 10_000
/** Newest rows of each sandbox, together with those of the egress gateway. */
const MAX_ROWS = 1000

/** The states in which user code may run: the address of a sandbox that ends may be another one's already. */
const RUNS = ['starting', 'running', 'pausing', 'resuming', 'snapshotting'] as const

/** What the packet rules have refused, until it is stored in the history of the sandboxes. */
export class RefusedEgress {
  #pending: RefusedPackets[] = []

  /** Adds what a runtime reports. What is over the cap is not kept. */
  add(refused: readonly RefusedPackets[]): void {
    this.#pending.push(...refused.slice(0, MAX_PENDING - this.#pending.length))
  }

  /** Stores what was added. Refusals of an address that no running sandbox has, as of builds, are dropped. */
  async store({ db }: Database): Promise<void> {
    const taken = this.#pending
    this.#pending = []
    if (taken.length === 0) return
    const sources = [...new Set(taken.map(({ source }) => source))]
    const owners = await db
      .selectFrom('sandbox')
      .select(['sandbox_id', 'team_id', 'endpoint_host'])
      .where('endpoint_host', 'in', sources)
      .where('state', 'in', RUNS)
      .execute()
    const ownerOf = new Map(owners.map((row) => [row.endpoint_host, row]))
    const decided_at = new Date()
    const rows = taken.flatMap(({ source, rule, address, protocol, port, count }) => {
      const owner = ownerOf.get(source)
      if (owner === undefined) return []
      const { sandbox_id, team_id } = owner
      return [{ sandbox_id, team_id, decided_at, verdict: 'deny' as const, rule, name: null, address, protocol, port, connections: count }]
    })
    await writeEgressDecisions(db, rows, MAX_ROWS)
  }
}
