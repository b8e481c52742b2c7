import type { Tx } from '@sandyard/db/database'
import type { SandboxRef } from '@sandyard/runtime/types'
import { newSandboxId } from '../sandboxes/sandbox-id.ts'
import { lockPlan } from './lock-plan.ts'
import { giveUpParked, insertParking, listParked, MOST_PARKED } from './parked-rows.ts'
import { planPool, type PoolSituation, type WantedBuild } from './plan-pool.ts'
import type { PoolBounds } from './pool-config.ts'

export interface PlanRequest extends Omit<PoolSituation, 'rows'> {
  readonly wanted: readonly WantedBuild[]
  readonly config: PoolBounds
  readonly engineId: string
  readonly serverId: number
  readonly generation: string
}

export interface StoredPlan {
  /** What this server has to start. */
  readonly begun: readonly (readonly [SandboxRef, WantedBuild])[]
  /** What has to be removed. */
  readonly givenUp: readonly SandboxRef[]
  /** More is missing than may start now. */
  readonly isShort: boolean
}

/** Plans the pool and stores the plan. The rows of what is to be started are committed before the first call of the runtime. */
export async function storePlan(tx: Tx, request: PlanRequest): Promise<StoredPlan> {
  const { wanted, config, engineId, serverId, generation } = request
  if (!(await lockPlan(tx, engineId))) return { begun: [], givenUp: [], isShort: true }
  const rows = await listParked(tx, { generation, serverId })
  // What no look would see would be started again and again.
  const mayPark = Math.min(request.mayPark, MOST_PARKED - rows.length)
  const plan = planPool(config, wanted, { ...request, mayPark, rows })
  const begun: [SandboxRef, WantedBuild][] = []
  for (const each of plan.park) {
    const ref = { sandboxId: newSandboxId(), incarnation: 1 }
    await insertParking(tx, { wanted: each, ref, generation, serverId, maxAgeMs: config.maxAgeMs })
    begun.push([ref, each])
  }
  return { begun, givenUp: await giveUpParked(tx, plan.giveUp), isShort: plan.isShort }
}
