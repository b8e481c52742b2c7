import type { Container } from 'dockerode'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef, Usage } from '@sandyard/runtime/types'
import pLimit from 'p-limit'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { toUsage } from './usage.ts'

/** Usage calls in flight. The engine measures all containers once a second, and each call waits for that. */
const USAGE_AT_ONCE = 128

/** By sandbox id, without those that have no processes or hang. */
export async function readUsages(refs: readonly SandboxRef[], containerOf: (ref: SandboxRef) => Container): Promise<Map<string, Usage>> {
  const limit = pLimit(USAGE_AT_ONCE)
  const found = await Promise.all(refs.map((ref) => limit(async () => [ref.sandboxId, await readUsage(containerOf(ref))] as const)))
  return new Map(found.flatMap(([sandboxId, usage]) => (usage === undefined ? [] : [[sandboxId, usage]])))
}

/** Undefined for a container without processes, and for one that hangs: the usage of the others is still returned. */
async function readUsage(container: Container): Promise<Usage | undefined> {
  try {
    const stats = await engineCall('The usage could not be read.', () =>
      unlessStatus(404, () => container.stats({ stream: false, 'one-shot': true })),
    )
    return stats === undefined ? undefined : toUsage(stats)
  } catch (err) {
    if (isAppError(err, 'deadline_exceeded')) return undefined
    throw err
  }
}
