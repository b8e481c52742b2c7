import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { RetentionConfig } from '../settings/retention.ts'
import type { UploadFolder } from '../uploads/upload-folder.ts'
import type { Placement } from '../servers/placement.ts'
import type { BuildConfig } from './build-config.ts'
import { BuildWorker } from './queue/build-worker.ts'
import { expireWaiting } from './queue/expire-waiting.ts'
import type { AttemptEnd, AttemptParts } from './queue/run-attempt.ts'
import { BuildUpkeep } from './upkeep/build-upkeep.ts'
import { collectBuildSandboxes } from './upkeep/collect-build-sandboxes.ts'

const EXPIRE_EVERY_MS = 30_000
const COLLECT_SANDBOXES_EVERY_MS = 30_000
const KEEP_UP_EVERY_MS = 10 * 60_000

export interface BuildLoopParts extends AttemptParts {
  readonly serverId: number
  readonly placement: Placement
  readonly config: BuildConfig
  readonly retention: RetentionConfig
  readonly folder: UploadFolder
  readonly hasMemory: () => Promise<boolean>
  readonly onAttemptEnd?: (end: AttemptEnd, ms: number) => void
}

/** The background work on builds of one server. */
export interface BuildLoops {
  onBuildChanged(buildId: string): void
  onRefresh(): void
  /** Returns running builds to the queue. */
  stop(): Promise<void>
}

export function startBuildLoops(parts: BuildLoopParts): BuildLoops {
  const { database, config, log } = parts
  const worker = new BuildWorker({ ...parts, width: config.width, timeoutMs: config.timeoutMs })
  parts.placement.onChange(() => worker.onPlacementChanged())
  const upkeep = new BuildUpkeep(parts)
  const loops = [
    runLoop({ name: 'waiting builds', everyMs: EXPIRE_EVERY_MS, log }, () => expireWaiting(database)),
    runLoop({ name: 'build sandboxes', everyMs: COLLECT_SANDBOXES_EVERY_MS, log }, () => collectBuildSandboxes(parts)),
    runLoop({ name: 'build upkeep', everyMs: KEEP_UP_EVERY_MS, log }, (signal) => upkeep.pass(signal)),
  ]
  return {
    onBuildChanged: (buildId) => worker.onBuildChanged(buildId),
    onRefresh: () => worker.onRefresh(),
    async stop() {
      await Promise.all([worker.stop(), ...loops.map((loop) => loop.stop())])
    },
  }
}
