import type { Container } from 'dockerode'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { Usage } from '@sandyard/runtime/types'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { toUsage } from './usage.ts'

/** Undefined for a container without processes, and for one that hangs: the usage of the others is still returned. */
export async function readUsage(container: Container): Promise<Usage | undefined> {
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
