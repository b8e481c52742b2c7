import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { isEngineOf } from '../servers/engine-binding.ts'

/** The lock of the transaction that plans: one server at a time. */
const PLAN_LOCK = 0x5a_11_70_01

/** False when another server plans, or when the installation was moved to another engine. */
export async function lockPlan(tx: Tx, engineId: string): Promise<boolean> {
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${PLAN_LOCK}) and ${isEngineOf(engineId)} as is_ours
  `.execute(tx)
  return rows[0]?.is_ours === true
}
