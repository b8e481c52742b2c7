import { dockerfileError } from '@sandyard/dockerfile/dockerfile-lines'
import { WorkerPool } from '../../workers/worker-pool.ts'

/** A text of this length is checked within a few milliseconds. Longer ones are checked by a thread. */
const ON_MAIN_THREAD_LENGTH = 8 * 1024
const TIMEOUT_MS = 10_000

/** One pool for the process. Its threads do not keep the process alive. */
const pool = new WorkerPool<string, void>({
  module: new URL('./dockerfile-worker.ts', import.meta.url),
  width: 1,
  waiting: 64,
  waitingPerOwner: 16,
  memoryMib: 256,
})

/**
 * Like `checkDockerfile`, without blocking the event loop.
 *
 * @throws AppError `invalid_argument`, which names the line; `resource_exhausted` when too many texts wait
 */
export async function checkDockerfileAside(source: string, teamId: string): Promise<void> {
  if (source.length <= ON_MAIN_THREAD_LENGTH) {
    const { checkDockerfile } = await import('./check-dockerfile.ts')
    return checkDockerfile(source)
  }
  return pool.run(source, {
    owner: teamId,
    timeoutMs: TIMEOUT_MS,
    onTimeout: () => dockerfileError('it takes too long to check'),
    onOutOfMemory: () => dockerfileError('it takes too much memory to check'),
  })
}
