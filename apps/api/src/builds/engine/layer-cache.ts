import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import type { CommandContext } from '@sandyard/db/schema/build'
import type { ImageRef } from '@sandyard/runtime/types'
import type { BuildResult } from '../build-plan.ts'

/** What holds after a layer; of the last one, what sandboxes are made with. */
type LayerResult = { readonly context: CommandContext } | { readonly build: BuildResult }

export interface CachedLayer {
  readonly key: string
  readonly image: ImageRef
  readonly result: LayerResult
}

/** The layers that builds of a team have made. */
export class LayerCache {
  readonly #database: Database
  readonly #teamId: string

  constructor(database: Database, teamId: string) {
    this.#database = database
    this.#teamId = teamId
  }

  /** Those that are there, by key. They count as used from this moment, so what collects old ones leaves them. */
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

  /** Of two builds that make the same layer at once, the first one's stays, unless the other was told to make it anew. */
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

  /** Its image is gone. */
  async forget({ key, image }: CachedLayer): Promise<void> {
    await this.#database.db
      .deleteFrom('build_layer')
      .where('team_id', '=', this.#teamId)
      .where('key', '=', key)
      .where('image', '=', image)
      .execute()
  }
}
