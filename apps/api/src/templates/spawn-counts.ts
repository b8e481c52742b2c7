import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'

const BATCHES = { size: 1000, most: 50 }

/** The number of starts of `template`, including starts that are not folded into its row yet. */
export const spawnCount = sql<number>`(
  template.spawn_count + (select count(*) from template_spawn where template_spawn.template_id = template.template_id)
)`

/** The last start of `template`, including starts that are not folded into its row yet. */
export const lastSpawnedAt = sql<Date | null>`greatest(
  template.last_spawned_at, (select max(spawned_at) from template_spawn where template_spawn.template_id = template.template_id)
)`

/**
 * Folds recent starts into the rows of their templates. A start only appends, so creates of one template do not wait for each other. To
 * avoid deadlocks, templates are always locked in the order of their ids.
 */
export async function foldSpawns(db: Db): Promise<void> {
  await inBatches(BATCHES, async (size) => {
    const { rows } = await sql<{ count: number }>`
      with gone as (
        delete from template_spawn where ctid = any(array(select ctid from template_spawn limit ${size} for update skip locked))
        returning template_id, spawned_at
      ), sums as (
        select template_id, count(*) as spawns, max(spawned_at) as last from gone group by template_id
      ), locked as materialized (
        select template_id from template where template_id in (select template_id from sums) order by template_id for no key update
      ), counted as (
        update template set spawn_count = template.spawn_count + sums.spawns, last_spawned_at = greatest(template.last_spawned_at, sums.last)
        from sums join locked using (template_id) where template.template_id = sums.template_id
      )
      select count(*) as count from gone
    `.execute(db)
    return rows[0]?.count ?? 0
  })
}
