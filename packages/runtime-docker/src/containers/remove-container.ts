import { pollUntil } from '@sandyard/kit/async/poll-until'
import type Docker from 'dockerode'
import { statusOf, unlessStatus } from '../engine/docker-errors.ts'

const REMOVAL_TIMEOUT_MS = 60_000

/** Ends a container in any state and removes its files and anonymous volumes. An absent container is success. On return it is removed. */
export async function removeContainer(docker: Docker, name: string): Promise<void> {
  const container = docker.getContainer(name)
  try {
    await unlessStatus(404, () => container.remove({ force: true, v: true }))
  } catch (err) {
    // Another removal is under way.
    if (statusOf(err) !== 409) throw err
    const isGone = async (): Promise<true | undefined> =>
      (await unlessStatus(404, () => container.inspect())) === undefined ? true : undefined
    await pollUntil({ what: 'the removal of a container', timeoutMs: REMOVAL_TIMEOUT_MS, everyMs: 50 }, isGone)
  }
}
