import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import type { BuilderVersion } from '@sandyard/db/schema/build'
import type { Secret } from '@sandyard/kit/config/secret'
import type { RegistryCredentials } from '@sandyard/runtime/image-store'
import type { BuildPlan } from '../build-plan.ts'
import { sealCredentials } from './sealed-credentials.ts'

export interface BuildOrder {
  readonly buildId: string
  readonly teamId: string
  readonly plan: BuildPlan
  readonly builderVersion: BuilderVersion
  readonly credentials?: RegistryCredentials | undefined
}

/** Longer plans are not kept after the end of the build. */
const MAX_KEPT_PLAN_BYTES = 256 * 1024

/**
 * Queues a registered build: after the commit clients see it as `building`, and a server claims it. Of two concurrent calls for one build,
 * one succeeds.
 *
 * @returns false when the build does not wait for its start any more; then nothing has changed
 */
export async function enqueueBuild(tx: Tx, tokenSeed: Secret, order: BuildOrder): Promise<boolean> {
  const { buildId, teamId, plan, builderVersion, credentials } = order
  const moved = await tx
    .updateTable('build')
    .set({ status: 'building', builder_version: builderVersion, updated_at: sql<Date>`clock_timestamp()` })
    .where('build_id', '=', buildId)
    .where('status', 'in', ['pending', 'waiting'])
    .executeTakeFirst()
  if (moved.numUpdatedRows === 0n) return false
  await tx
    .insertInto('build_job')
    .values({
      build_id: buildId,
      team_id: teamId,
      plan: JSON.stringify(plan),
      sealed_credentials: credentials === undefined ? null : sealCredentials(tokenSeed, buildId, credentials),
    })
    .execute()
  await keepPlan(tx, order)
  await notify(tx, CHANNELS.buildChanged, buildId)
  return true
}

/** For a rebuild. */
async function keepPlan(tx: Tx, { buildId, plan, credentials }: BuildOrder): Promise<void> {
  const text = JSON.stringify(plan)
  if (Buffer.byteLength(text) > MAX_KEPT_PLAN_BYTES) return
  await tx
    .insertInto('build_plan')
    .values({ build_id: buildId, plan: text, needs_credentials: credentials !== undefined })
    .execute()
}
