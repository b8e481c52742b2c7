import { sql, type RawBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches, type Batches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import { deleteLogs } from './collect-logs.ts'

const BATCHES = { size: 200, most: 100 }

const FIRST = { at: new Date(0), id: NIL_UUID }

/**
 * Removes builds that ended long ago and that nothing refers to: they are not the newest or newest ready build of a tag, not the newest of
 * their template, no sandbox was created from them in that time, and no queued job is based on them. Image upkeep then removes their
 * images.
 *
 * A turn checks a capped number of builds and the next turn continues after them, so that many builds that stay do not hide later ones.
 */
export class BuildCollector {
  readonly #db: Db
  readonly #batches: Batches
  #after = FIRST

  constructor(db: Db, batches: Batches = BATCHES) {
    this.#db = db
    this.#batches = batches
  }

  async collect(ageMs: number, signal?: AbortSignal): Promise<void> {
    const before = secondsAgo(ageMs / 1000)
    await inBatches({ ...this.#batches, signal }, (size) => this.#collectPage(before, size, signal))
  }

  async #collectPage(before: RawBuilder<unknown>, size: number, signal?: AbortSignal): Promise<number> {
    const { rows: page } = await sql<{ build_id: string; finished_at: Date }>`
      select build_id, finished_at from build
      where finished_at < ${before} and (finished_at, build_id) > (${this.#after.at}, ${this.#after.id}::uuid)
      order by finished_at, build_id limit ${size}
    `.execute(this.#db)
    const last = page.at(-1)
    this.#after = last === undefined || page.length < size ? FIRST : { at: last.finished_at, id: last.build_id }
    if (last === undefined) return 0
    const isUnused = sql`
      build.build_id = any(${page.map(({ build_id }) => build_id)}::uuid[])
      and exists (select from template where template.template_id = build.template_id and source = 'template')
      and not exists (select from sandbox where sandbox.build_id = build.build_id)
      and not exists (
        select from sandbox_history as used where used.build_id = build.build_id and used.ended_at > ${before}
      )
      and not exists (select from build_job where build_job.plan -> 'source' ->> 'buildId' = build.build_id::text)
      and build.build_id <> (
        select newest.build_id from build as newest where newest.template_id = build.template_id
        order by newest.created_at desc, newest.build_id limit 1
      )
      and not exists (
        select from tag_assignment as mine where mine.build_id = build.build_id and not exists (
          select from tag_assignment as newer join build as newer_build using (build_id)
          where newer.template_id = mine.template_id and newer.tag = mine.tag and newer.created_at > mine.created_at
          and newer_build.status in ('uploaded', 'success', 'ready')
        )
      )
    `
    // The deletion of a build would delete its whole log in the same statement.
    await deleteLogs(this.#db, isUnused, signal)
    await sql`delete from build where log_count = 0 and ${isUnused}`.execute(this.#db)
    return page.length
  }
}

/** Removes the rows of templates that were deleted long ago, with their builds, whose logs were removed. Until then their ids stay reserved. */
export async function collectTemplates(db: Db, ageMs: number, signal?: AbortSignal): Promise<void> {
  await inBatches({ ...BATCHES, signal }, async (size) => {
    const { numAffectedRows } = await sql`
      delete from template where template_id in (
        select template_id from template
        where deleted_at < ${secondsAgo(ageMs / 1000)}
        and not exists (select from sandbox where sandbox.template_id = template.template_id)
        and not exists (select from build where build.template_id = template.template_id and log_count > 0)
        and not exists (
          select from build join build_job on build_job.plan -> 'source' ->> 'buildId' = build.build_id::text
          where build.template_id = template.template_id
        )
        order by deleted_at limit ${size} for update skip locked
      )
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
