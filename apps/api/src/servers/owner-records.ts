import type { Db } from '@sandyard/db/database'
import { ENGINE_SETTING } from '@sandyard/db/engine-setting'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'
import { sql } from 'kysely'
import { findUnneeded } from '../builds/upkeep/collect-images.ts'
import { knownOf } from '../sandboxes/repair/reconciler-queries.ts'
import { keyOf } from '../sandboxes/repair/repairs.ts'
import { isBuildSandboxId } from '../sandboxes/sandbox-id.ts'

/** What the database knows of the objects of its installation on its engine. */
export interface OwnerRecords {
  readonly installation: string
  /** The id of the engine to which the database belongs. */
  readonly engineId: string
  /** Those of the sandboxes that have neither a row, in the warm pool or as a sandbox, nor a running build. */
  unownedSandboxes(sandboxes: readonly SandboxRef[]): Promise<readonly SandboxRef[]>
  /** Those of the images that no build, layer, sandbox or queued job refers to. */
  unneededImages(images: readonly string[]): Promise<readonly string[]>
  /** Whether a server has a valid lease. */
  hasServer(): Promise<boolean>
}

/** @throws AppError `failed_precondition` for a database that no server has used yet */
export async function openOwnerRecords(db: Db): Promise<OwnerRecords> {
  const rows = await db.selectFrom('server_setting').selectAll().where('name', 'in', ['installation_id', ENGINE_SETTING]).execute()
  const setting = (name: string): string => {
    const row = rows.find((found) => found.name === name)
    if (row === undefined) throw new AppError('failed_precondition', 'No server has used this database yet.')
    return row.value
  }
  return {
    installation: setting('installation_id'),
    engineId: setting(ENGINE_SETTING),
    unownedSandboxes: (sandboxes) => findUnowned(db, sandboxes),
    unneededImages: (images) => findUnneeded(db, images),
    hasServer: async () => {
      const alive = db
        .selectFrom('server')
        .select('server_id')
        .where('lease_until', '>', sql<Date>`clock_timestamp()`)
      return (await alive.limit(1).executeTakeFirst()) !== undefined
    },
  }
}

async function findUnowned(db: Db, sandboxes: readonly SandboxRef[]): Promise<SandboxRef[]> {
  const known = await knownOf(
    db,
    sandboxes.filter(({ sandboxId }) => !isBuildSandboxId(sandboxId)),
  )
  const jobs = await db.selectFrom('build_job').select('sandbox_id').where('server_id', 'is not', null).execute()
  const builds = new Set(jobs.map(({ sandbox_id }) => sandbox_id))
  return sandboxes.filter((ref) => (isBuildSandboxId(ref.sandboxId) ? !builds.has(ref.sandboxId) : !known.has(keyOf(ref))))
}
