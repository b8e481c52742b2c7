import pLimit from 'p-limit'
import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { BACKUP_SNAPSHOT_AGE_MS, isBackupSnapshot } from '@sandyard/runtime/backup-snapshot'
import type { ImageStore } from '@sandyard/runtime/image-store'

export interface ImageUpkeepParts {
  readonly database: Database
  readonly images: ImageStore
  readonly log: Logger
}

const LIST_TIMEOUT_MS = 60_000
const REMOVE_TIMEOUT_MS = 60_000
const REMOVALS_AT_ONCE = 4
const CHUNK = 500

/**
 * Removes the images of this installation that nothing refers to. Two passes in a row must find an image unused: one pass may run between
 * the look-up of an image and the insert of the row that refers to it.
 */
export class ImageCollector {
  readonly #parts: ImageUpkeepParts
  #suspects: ReadonlySet<string> = new Set()

  constructor(parts: ImageUpkeepParts) {
    this.#parts = parts
  }

  async collect(youngMs: number, signal?: AbortSignal): Promise<void> {
    const { database, images } = this.#parts
    const kept = await within({ what: 'the list of images', timeoutMs: LIST_TIMEOUT_MS }, () => images.list())
    const old = kept.filter(({ image, createdAt }) => createdAt.getTime() < Date.now() - leastAge(image, youngMs)).map(({ image }) => image)
    const unneeded = await findUnneeded(database.db, old)
    const certain = unneeded.filter((image) => this.#suspects.has(image))
    this.#suspects = new Set(unneeded)
    const limit = pLimit(REMOVALS_AT_ONCE)
    await Promise.all(certain.map((image) => limit(async () => signal?.aborted !== true && this.#remove(image))))
  }

  async #remove(image: string): Promise<void> {
    const { images, log } = this.#parts
    try {
      await within({ what: 'the removal of the image', timeoutMs: REMOVE_TIMEOUT_MS }, () => images.remove(image))
      log.info({ image }, 'removed an unused image')
    } catch (err) {
      log.warn({ err, image }, 'an image could not be removed yet')
    }
  }
}

/** A backup may take longer than a build. */
function leastAge(image: string, youngMs: number): number {
  return isBackupSnapshot(image) ? Math.max(BACKUP_SNAPSHOT_AGE_MS, youngMs) : youngMs
}

/** The images that are not used by a build that requests can name, a sandbox in any state, a layer, or the source of a queued build. */
export async function findUnneeded(db: Db, images: readonly string[]): Promise<string[]> {
  const unneeded: string[] = []
  for (let at = 0; at < images.length; at += CHUNK) {
    const { rows } = await sql<{ image: string }>`
      select image from unnest(${images.slice(at, at + CHUNK)}::text[]) as candidate (image)
      where not exists (select from build_layer where build_layer.image = candidate.image)
      and not exists (
        select from build join template using (template_id) where build.image = candidate.image and (
          template.deleted_at is null
          or exists (select from sandbox where sandbox.build_id = build.build_id)
          or exists (select from build_job where build_job.plan -> 'source' ->> 'buildId' = build.build_id::text)
        )
      )
    `.execute(db)
    unneeded.push(...rows.map(({ image }) => image))
  }
  return unneeded
}
