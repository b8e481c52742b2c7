import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { BuildConfig } from './build-config.ts'
import { BuildWorker } from './queue/build-worker.ts'
import { expireWaiting } from './queue/expire-waiting.ts'
import type { AttemptEnd, AttemptParts } from './queue/run-attempt.ts'

const EXPIRE_EVERY_MS = 30_000

export interface BuildLoopParts extends AttemptParts {
  readonly serverId: number
  readonly config: BuildConfig
  readonly onAttemptEnd?: (end: AttemptEnd) => void
}

/** The background work on builds of one server. */
export interface BuildLoops {
  onBuildChanged(buildId: string): void
  onRefresh(): void
  /** Gives builds under way back to the queue. */
  stop(): Promise<void>
}

export function startBuildLoops(parts: BuildLoopParts): BuildLoops {
  const { database, config, log } = parts
  const worker = new BuildWorker({ ...parts, width: config.width, timeoutMs: config.timeoutMs })
  const expiring = runLoop({ name: 'waiting builds', everyMs: EXPIRE_EVERY_MS, log }, () => expireWaiting(database))
  return {
    onBuildChanged: (buildId) => worker.onBuildChanged(buildId),
    onRefresh: () => worker.onRefresh(),
    async stop() {
      await Promise.all([worker.stop(), expiring.stop()])
    },
  }
}
