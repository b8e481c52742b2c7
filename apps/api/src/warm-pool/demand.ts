import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { deleteOlder } from '@sandyard/db/delete-older'
import { secondsAgo } from '@sandyard/db/statement-time'

/** What a create asked for. A rebuild of the tag moves the demand to the new build. */
export interface DemandKey {
  readonly templateId: string
  /** A tag, or the id of a build in place of it. */
  readonly tag: string
}

/** The demand for one template and tag. */
export interface Demand extends DemandKey {
  /** The most creates in one slot. */
  readonly peak: number
}

const SLOT_SECONDS = 10
/** Sandboxes wait for as long as this after the last create of their template. */
const WINDOW_SECONDS = 300
/** Templates that are counted between two writes. */
const MAX_KEYS = 1000

/** Counts the creates of this server until they are written. A killed server loses those of the last seconds, which only makes the pool smaller. */
export class DemandCounter {
  #counts = new Map<string, { readonly key: DemandKey; creates: number }>()

  note(key: DemandKey): void {
    const id = `${key.templateId}:${key.tag}`
    const counted = this.#counts.get(id)
    if (counted !== undefined) counted.creates += 1
    else if (this.#counts.size < MAX_KEYS) this.#counts.set(id, { key, creates: 1 })
  }

  /** Adds what was counted to the current slot, for all servers. */
  async write(db: Db): Promise<void> {
    if (this.#counts.size === 0) return
    const counts = [...this.#counts.values()]
    this.#counts = new Map()
    const templates = counts.map(({ key }) => key.templateId)
    const tags = counts.map(({ key }) => key.tag)
    await sql`
      insert into pool_demand (template_id, tag, slot, creates)
      select template_id, tag, to_timestamp(floor(extract(epoch from clock_timestamp()) / ${SLOT_SECONDS}) * ${SLOT_SECONDS}), creates
      from unnest(${templates}::text[], ${tags}::text[], ${counts.map(({ creates }) => creates)}::int[]) as counted (template_id, tag, creates)
      order by template_id, tag
      on conflict (template_id, tag, slot) do update set creates = pool_demand.creates + excluded.creates
    `.execute(db)
  }
}

/** The templates that were created most in the window, the highest demand first. */
export async function readDemand(db: Db, most: number): Promise<Demand[]> {
  const rows = await db
    .selectFrom('pool_demand')
    .select(['template_id', 'tag'])
    .select(({ fn }) => fn.max('creates').as('peak'))
    .where('slot', '>', secondsAgo(WINDOW_SECONDS))
    .groupBy(['template_id', 'tag'])
    .orderBy('peak', 'desc')
    .orderBy('template_id')
    .orderBy('tag')
    .limit(most)
    .execute()
  return rows.map((row) => ({ templateId: row.template_id, tag: row.tag, peak: row.peak }))
}

export async function forgetDemand(db: Db): Promise<void> {
  await deleteOlder(db, { table: 'pool_demand', time: 'slot', ageMs: 2 * WINDOW_SECONDS * 1000 })
}
