import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import { ENGINE_SETTING } from '@sandyard/db/engine-setting'
import { readTokenSeed } from '@sandyard/db/read-token-seed'
import type { Secret } from '@sandyard/kit/config/secret'
import { within } from '@sandyard/kit/async/within'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { ErrorKind } from '@sandyard/kit/errors/kinds'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { PauseHandle, RuntimeSnapshot, SandboxRef } from '@sandyard/runtime/types'
import { loadSource } from '../sandboxes/lifecycle/load-source.ts'
import { ensureVolumes } from '../sandboxes/start/ensure-volumes.ts'
import { sandboxSpec } from '../sandboxes/start/sandbox-spec.ts'
import { endSandboxes } from './end-sandboxes.ts'
import { readEngineId } from './engine-binding.ts'

export interface AdoptParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly log: Logger
}

/** A paused sandbox of a backup. The image of the snapshot is on the engine of the runtime. */
export interface PausedOfBackup extends SandboxRef {
  readonly snapshot: Pick<RuntimeSnapshot, 'image'>
}

export interface Adopted {
  /** Paused sandboxes that have their files. */
  readonly paused: number
  /** Sandboxes that ran, or whose files are not in the backup. */
  readonly ended: number
  /** Paused sandboxes of the backup that this runtime cannot take; they are among the ended ones. */
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly sandboxId: string
  /** A sentence. */
  readonly reason: string
}

const LIST_TIMEOUT_MS = 30_000
const CREATE_TIMEOUT_MS = 60_000
const REMOVE_TIMEOUT_MS = 60_000
/** Failures that come back with every repetition, so they must not keep the other sandboxes from the restore. */
const LASTING: ReadonlySet<ErrorKind> = new Set(['not_found', 'invalid_argument', 'failed_precondition', 'unimplemented', 'conflict'])

/**
 * Completes a restore: binds the rows of a backup to the engine of the runtime. Paused sandboxes get their files from the backup, unless the
 * engine still has them. All other sandboxes that the engine does not have end with the reason `restored`, and so do paused ones that the runtime
 * cannot take. No server may run. It can be repeated until it has succeeded; no server starts before (`UNFINISHED_RESTORE`).
 *
 * @throws AppError of the runtime that a repetition may not have; `deadline_exceeded`
 */
export async function adoptRestored(parts: AdoptParts, paused: readonly PausedOfBackup[]): Promise<Adopted> {
  const { database, runtime, log } = parts
  const engineId = await readEngineId(runtime)
  const listed = await within({ what: 'the list of sandboxes', timeoutMs: LIST_TIMEOUT_MS }, () => runtime.list())
  const present = new Set(listed.map(keyOf))
  const tokenSeed = await readTokenSeed(database.db)
  await adoptSnapshots(database, engineId)
  const leftOut: LeftOut[] = []
  for (const sandbox of paused) {
    try {
      if (await bringIn(parts, { tokenSeed, engineId, sandbox, isPresent: present.has(keyOf(sandbox)) })) present.add(keyOf(sandbox))
    } catch (err) {
      if (!isAppError(err) || !LASTING.has(err.kind)) throw err
      log.warn({ err, sandboxId: sandbox.sandboxId }, 'a paused sandbox of a backup was left out')
      present.delete(keyOf(sandbox))
      leftOut.push({ sandboxId: sandbox.sandboxId, reason: err.message })
    }
  }
  const ended = await database.transaction(async (tx) => {
    const rows = await tx.selectFrom('sandbox').select(['sandbox_id', 'incarnation']).where('state', '<>', 'killing').execute()
    const kept = rows.filter((row) => present.has(keyOf({ sandboxId: row.sandbox_id, incarnation: row.incarnation })))
    const count = await endSandboxes(
      tx,
      'restored',
      kept.map(({ sandbox_id: id }) => id),
    )
    await tx.deleteFrom('server').execute()
    // Builds continue with the first server that claims them.
    await tx.updateTable('build_job').set({ server_id: null, lease_until: null }).where('server_id', 'is not', null).execute()
    await tx.updateTable('server_setting').set({ value: engineId }).where('name', '=', ENGINE_SETTING).execute()
    return count
  })
  const { count } = await database.db
    .selectFrom('sandbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '=', 'paused')
    .executeTakeFirstOrThrow()
  log.info({ engineId, paused: count, ended }, 'a backup was restored')
  return { paused: count, ended, leftOut }
}

/** The images of snapshots were loaded under their names. */
async function adoptSnapshots({ db }: Database, engineId: string): Promise<void> {
  await sql`
    update build set snapshot = jsonb_set(snapshot, '{engine}', to_jsonb(${engineId}::text))
    where snapshot is not null and snapshot ->> 'engine' is distinct from ${engineId}
  `.execute(db)
}

interface BringIn {
  readonly tokenSeed: Secret
  readonly engineId: string
  readonly sandbox: PausedOfBackup
  /** The engine has it: from before the restore, from an earlier one, or from one that was not completed. */
  readonly isPresent: boolean
}

/** False when its row does not say that it is paused. */
async function bringIn({ database, runtime }: AdoptParts, { tokenSeed, engineId, sandbox, isPresent }: BringIn): Promise<boolean> {
  const row = await database.db
    .selectFrom('sandbox')
    .selectAll()
    .where('sandbox_id', '=', sandbox.sandboxId)
    .where('incarnation', '=', sandbox.incarnation)
    .where('state', '=', 'paused')
    .executeTakeFirst()
  if (row === undefined) return false
  if (isPresent && row.pause_handle?.['engine'] === engineId) return true
  // A container of an earlier restore has the files of another backup.
  if (isPresent) await within({ what: 'removing a former container', timeoutMs: REMOVE_TIMEOUT_MS }, () => runtime.remove(sandbox))
  const spec = sandboxSpec(await loadSource(database.db, row), tokenSeed)
  const snapshot = { ...sandbox.snapshot, engine: engineId } as RuntimeSnapshot
  await within({ what: 'making the volumes of a paused sandbox', timeoutMs: CREATE_TIMEOUT_MS }, (signal) =>
    ensureVolumes(runtime, spec, signal),
  )
  const handle = await within({ what: 'bringing in a paused sandbox', timeoutMs: CREATE_TIMEOUT_MS }, () =>
    runtime.createPaused(snapshot, spec),
  )
  await setHandle(database, sandbox, handle)
  return true
}

async function setHandle({ db }: Database, { sandboxId, incarnation }: SandboxRef, handle: PauseHandle): Promise<void> {
  await db
    .updateTable('sandbox')
    .set({ pause_handle: JSON.stringify(handle), pause_keep: handle.keep, unresponsive_at_pause: false })
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where('state', '=', 'paused')
    .execute()
}

function keyOf({ sandboxId, incarnation }: SandboxRef): string {
  return `${sandboxId}/${incarnation}`
}
