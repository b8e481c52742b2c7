import { sql, type RawBuilder } from 'kysely'
import type { Database, Db, Tx } from '@sandyard/db/database'
import { ENGINE_SETTING, UNFINISHED_RESTORE } from '@sandyard/db/engine-setting'
import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { ensureSetting } from '../settings/installation.ts'
import { endSandboxes } from './end-sandboxes.ts'

const IDENTIFY_TIMEOUT_MS = 15_000

export interface BindingParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly log: Logger
  /** SANDYARD_ADOPT_ENGINE: the new engine of the installation. */
  readonly adoptEngine: string | undefined
}

/** @throws AppError of the runtime; `deadline_exceeded` */
export async function readEngineId(runtime: SandboxRuntime): Promise<string> {
  return within({ what: 'asking the engine for its id', timeoutMs: IDENTIFY_TIMEOUT_MS }, (signal) => runtime.engineId(signal))
}

/**
 * Checks that the engine of this server is the one that the database belongs to, and returns its id. The first server of an installation
 * stores the id. With another engine, a server would treat all sandboxes as lost and remove their rows.
 *
 * @throws AppError `failed_precondition` for another engine; the message says how to move. Also while a restore is not complete, which
 *   SANDYARD_ADOPT_ENGINE does not change.
 */
export async function bindEngine({ database, runtime, log, adoptEngine }: BindingParts): Promise<string> {
  const engineId = await readEngineId(runtime)
  const recorded = await ensureSetting(database.db, ENGINE_SETTING, () => engineId)
  if (recorded === engineId) return engineId
  if (recorded === UNFINISHED_RESTORE) throw unfinishedRestore()
  if (adoptEngine !== engineId) throw otherEngine(recorded, engineId)
  await database.transaction(async (tx) => {
    // This lock blocks heartbeats of servers with the former engine.
    const { value: from } = await selectEngine(tx).forUpdate().executeTakeFirstOrThrow()
    if (from === engineId) return
    if (from === UNFINISHED_RESTORE) throw unfinishedRestore()
    await refuseWhileServed(tx, from)
    const ended = await endSandboxes(tx, 'engine_moved')
    await tx.updateTable('server_setting').set({ value: engineId }).where('name', '=', ENGINE_SETTING).execute()
    log.warn({ from, to: engineId, ended }, 'the installation was moved to another engine; its sandboxes were ended')
  })
  return engineId
}

/** SQL condition: the database still belongs to this engine. */
export function isEngineOf(engineId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (select from server_setting where name = ${ENGINE_SETTING} and value = ${engineId})`
}

/**
 * Checks that the installation was not moved to another engine since this server started, and that the database is still the same.
 *
 * @throws AppError `failed_precondition`
 */
export async function assertEngineOf(db: Db, engineId: string): Promise<void> {
  const row = await selectEngine(db).executeTakeFirst()
  if (row?.value !== engineId) throw engineMoved()
}

export function engineMoved(): AppError {
  return new AppError('failed_precondition', 'This installation was moved to another engine.')
}

function selectEngine(db: Db) {
  return db.selectFrom('server_setting').select('value').where('name', '=', ENGINE_SETTING)
}

function otherEngine(recorded: string, engineId: string): AppError {
  return new AppError(
    'failed_precondition',
    `The sandboxes of this database are on another Docker engine (${recorded}) than the one that answers here (${engineId}): ` +
      'set DOCKER_HOST to the former engine or DATABASE_URL to another database, or move this installation for good by stopping its ' +
      `other servers and starting once with SANDYARD_ADOPT_ENGINE=${engineId}, which ends the sandboxes of the former engine.`,
  )
}

function unfinishedRestore(): AppError {
  return new AppError(
    'failed_precondition',
    'A restore of this database was not completed: repeat `sandyard restore` with the same backup.',
  )
}

async function refuseWhileServed(tx: Tx, recorded: string): Promise<void> {
  const served = await tx
    .selectFrom('server')
    .select('server_id')
    .where('engine_id', '=', recorded)
    .where('lease_until', '>', sql<Date>`clock_timestamp()`)
    .executeTakeFirst()
  if (served === undefined) return
  throw new AppError(
    'failed_precondition',
    `A server still runs with the former engine (${recorded}): stop it, wait half a minute, and start this one again.`,
  )
}
