import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ImageStore } from '@sandyard/runtime/image-store'

export interface ImageUpkeepParts {
  readonly database: Database
  readonly images: ImageStore
  readonly log: Logger
}

/**
 * Removes the images of this installation that nothing names. One has to be found so by two passes: between a look-up and the row
 * that follows from it, an image may be needed though nothing names it.
 */
export class ImageCollector {
  readonly #parts: ImageUpkeepParts
  #suspects: ReadonlySet<string> = new Set()

  constructor(parts: ImageUpkeepParts) {
    this.#parts = parts
  }

  async collect(youngMs: number): Promise<void> {
    const { database, images, log } = this.#parts
    const old = (await images.list()).filter(({ createdAt }) => createdAt.getTime() < Date.now() - youngMs)
    const needed = old.length === 0 ? new Set() : await listNeeded(database.db)
    const unneeded = old.map(({ image }) => image).filter((image) => !needed.has(image))
    const certain = unneeded.filter((image) => this.#suspects.has(image))
    this.#suspects = new Set(unneeded)
    for (const image of certain) {
      try {
        await images.remove(image)
        log.info({ image }, 'removed an image that nothing needs')
      } catch (err) {
        log.warn({ err, image }, 'an image could not be removed yet')
      }
    }
  }
}

/** Of every build that can still be asked for, of sandboxes in any state, of layers, and of what builds in the queue begin with. */
async function listNeeded(db: Db): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ image: string }>`
    select build.image from build join template using (template_id)
    where build.image is not null and template.deleted_at is null
    union select build.image from build join sandbox using (build_id) where build.image is not null
    union select image from build_layer
    union select build.image from build join build_job on build.build_id::text = build_job.plan->'source'->>'buildId'
    where build.image is not null
  `.execute(db)
  return new Set(rows.map(({ image }) => image))
}
