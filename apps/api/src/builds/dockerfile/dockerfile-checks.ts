import { WorkerPool } from '../../workers/worker-pool.ts'
import { checkDockerfile } from './check-dockerfile.ts'
import { dockerfileError } from './dockerfile-lines.ts'

/** A text of so many characters is checked within a few milliseconds. Larger ones are checked by a thread. */
const ON_MAIN_THREAD_LENGTH = 8 * 1024
const TIMEOUT_MS = 10_000

/** Of the process, whose end does not wait for it. */
const pool = new WorkerPool<string, void>({
  module: new URL('./dockerfile-worker.ts', import.meta.url),
  width: 1,
  waiting: 64,
  memoryMib: 256,
})

/**
 * As `checkDockerfile`, without holding the event loop.
 *
 * @throws AppError `invalid_argument`, which names the line; `resource_exhausted` when too many texts wait
 */
export async function checkDockerfileAside(source: string): Promise<void> {
  if (source.length <= ON_MAIN_THREAD_LENGTH) return checkDockerfile(source)
  return pool.run(source, {
    timeoutMs: TIMEOUT_MS,
    onTimeout: () => dockerfileError('it takes too long to check'),
    onOutOfMemory: () => dockerfileError('it takes too much memory to check'),
  })
}
