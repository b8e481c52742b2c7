import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import type { CommandContext } from '@sandyard/db/schema/build'
import type { ImageRef } from '@sandyard/runtime/types'
import type { BuildResult } from '../build-plan.ts'

/** The result of a layer: the context after it; for the last layer, what sandboxes start from. */
type LayerResult = { readonly context: CommandContext } | { readonly build: BuildResult }

export interface CachedLayer {
  readonly key: string
  readonly image: ImageRef
  readonly result: LayerResult
}

/** The cached layers of a team. */
export class LayerCache {
  readonly #database: Database
  readonly #teamId: string

  constructor(database: Database, teamId: string) {
    this.#database = database
    this.#teamId = teamId
  }

  /** The cached layers, by key. Marks them as used now, so upkeep keeps them. */
  async find(keys: readonly string[]): Promise<ReadonlyMap<string, CachedLayer>> {
    if (keys.length === 0) return new Map()
    const rows = await this.#database.db
      .updateTable('build_layer')
      .set({ last_used_at: sql<Date>`clock_timestamp()` })
      .where('team_id', '=', this.#teamId)
      .where('key', 'in', keys)
      .returning(['key', 'image', 'result'])
      .execute()
    return new Map(rows.map(({ key, image, result }) => [key, { key, image, result: result as LayerResult }]))
  }

  /** Stores a layer. If two builds make the same layer at once, the first one stays, except with `replace`. */
  async keep({ key, image, result }: CachedLayer, { replace }: { readonly replace: boolean }): Promise<void> {
    const written = {
      image,
      result: JSON.stringify(result),
      created_at: sql<Date>`clock_timestamp()`,
      last_used_at: sql<Date>`clock_timestamp()`,
    }
    await this.#database.db
      .insertInto('build_layer')
      .values({ team_id: this.#teamId, key, ...written })
      .onConflict((conflict) => (replace ? conflict.columns(['team_id', 'key']).doUpdateSet(written) : conflict.doNothing()))
      .execute()
  }

  /** Deletes the row of a layer whose image no longer exists. */
  async forget({ key, image }: CachedLayer): Promise<void> {
    await this.#database.db
      .deleteFrom('build_layer')
      .where('team_id', '=', this.#teamId)
      .where('key', '=', key)
      .where('image', '=', image)
      .execute()
  }
}
