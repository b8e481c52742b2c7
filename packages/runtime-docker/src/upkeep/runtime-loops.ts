import { runLoop, type Loop } from '@sandyard/kit/lifecycle/run-loop'
import type { RuntimeParts } from '../runtime-parts.ts'
import { collectLeftovers } from './collect-leftovers.ts'
import { repairEgress, type RepairEgressParts } from './repair-egress.ts'

const UPKEEP_EVERY_MS = 600_000
const EGRESS_EVERY_MS = 60_000
/** A proxy that starts again reaches no sandbox until its new interface is registered. */
const MEMBERS_EVERY_MS = 2000

/** Registers a sandbox that runs with the policy that `read` returns. */
type ApplyEgress = (...args: [...Parameters<RepairEgressParts['apply']>, signal: AbortSignal]) => Promise<void>

/** Starts the loops of a runtime. They are separate: a loop that waits for the engine does not delay the others. */
export function startRuntimeLoops(parts: RuntimeParts, applyEgress: ApplyEgress): readonly Loop[] {
  const { egress, images, joinMembers, log, volume } = parts
  const start = (name: string, everyMs: number, task: (signal: AbortSignal) => Promise<void>): Loop => runLoop({ name, everyMs, log }, task)
  const upkeep = [
    start('image sweep', UPKEEP_EVERY_MS, () => images.sweep()),
    start('leftovers of killed servers', UPKEEP_EVERY_MS, () => collectLeftovers({ ...parts, volumeName: volume.name })),
  ]
  if (egress === undefined) return upkeep
  const rules = start('egress rules', EGRESS_EVERY_MS, (signal) =>
    repairEgress({ ...parts, egress, apply: (ref, read) => applyEgress(ref, read, signal) }, signal),
  )
  const members = joinMembers && start('members of the sandbox network', MEMBERS_EVERY_MS, () => egress.setMembers(joinMembers))
  const ofEgress = members === undefined ? [rules] : [rules, members]
  egress.onLost(() => ofEgress.forEach((loop) => loop.wake()))
  return [...upkeep, ...ofEgress]
}
