import type { EmbeddedPostgres, EmbeddedPostgresOptions } from '@sandyard/standalone/postgres/embedded-postgres'
import type { EnsureEngineOptions } from '@sandyard/standalone/engine/ensure-engine'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

/** Starts the embedded Postgres of `npm start`. @throws CliFailure where it is not installed; StartFailure */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { startEmbeddedPostgres: start } = await orNotWhole(import('@sandyard/standalone/postgres/embedded-postgres'))
  return start(options)
}

/** Returns when an engine answers; it may install one, as `npm start` does. @throws CliFailure where this is not a checkout; StartFailure */
export async function ensureEngine(options: EnsureEngineOptions): Promise<void> {
  const { ensureEngine: ensure } = await orNotWhole(import('@sandyard/standalone/engine/ensure-engine'))
  await ensure(options)
}

/** The container of the API and the npm package do not have the standalone program. */
async function orNotWhole<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading
  } catch (cause) {
    throw new CliFailure(EXIT.failed, 'There is no embedded Postgres here: set DATABASE_URL, or run this in a checkout of Sandyard.', {
      cause,
    })
  }
}
