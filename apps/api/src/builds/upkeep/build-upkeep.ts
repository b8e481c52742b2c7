import type { Database } from '@sandyard/db/database'
import { deleteOlder } from '@sandyard/db/delete-older'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { UploadFolder } from '../../uploads/upload-folder.ts'
import type { RetentionConfig } from '../../settings/retention.ts'
import type { BuildConfig } from '../build-config.ts'
import { BuildCollector, collectTemplates } from './collect-builds.ts'
import { ImageCollector } from './collect-images.ts'
import { collectLogs } from './collect-logs.ts'
import { collectStrayFiles } from './collect-stray-files.ts'
import { collectUploads } from './collect-uploads.ts'

const HOUR_MS = 3_600_000
/** After this time a step starts no further batch, so that the other steps get their turn. The next pass continues. */
const STEP_MS = 60_000

export interface UpkeepParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly folder: UploadFolder
  readonly config: Pick<BuildConfig, 'cacheLifetimeMs' | 'timeoutMs'>
  readonly retention: Pick<RetentionConfig, 'buildLogMs' | 'buildMs'>
  readonly log: Logger
}

/**
 * Removes layers, builds, images, logs and uploads that no build, tag, snapshot or sandbox needs. Several servers may run it at once.
 * Failures are logged and retried by the next pass. Rows are deleted before images, so that no row names a deleted image.
 */
export class BuildUpkeep {
  readonly #steps: Readonly<Record<string, (signal: AbortSignal) => Promise<unknown>>>
  readonly #log: Logger

  constructor({ database, runtime, folder, log, config, retention }: UpkeepParts) {
    const { unusedMs, youngMs } = upkeepAges(config)
    const images = new ImageCollector({ database, images: runtime.images, log })
    const builds = new BuildCollector(database.db)
    const files = { database, folder, log }
    this.#log = log
    this.#steps = {
      // A build that looks up a layer concurrently either renews its last use or does not find it.
      layers: (signal) => deleteOlder(database.db, { table: 'build_layer', time: 'last_used_at', ageMs: unusedMs, signal }),
      logs: (signal) => collectLogs(database.db, { logMs: retention.buildLogMs, templateMs: retention.buildMs }, signal),
      builds: (signal) => builds.collect(retention.buildMs, signal),
      templates: (signal) => collectTemplates(database.db, retention.buildMs, signal),
      images: (signal) => images.collect(youngMs, signal),
      uploads: (signal) => collectUploads(files, unusedMs, signal),
      'stray files': (signal) => collectStrayFiles(files, signal),
    }
  }

  /** @param stopping - ends the pass after the calls in flight */
  async pass(stopping: AbortSignal): Promise<void> {
    for (const [what, step] of Object.entries(this.#steps)) {
      if (stopping.aborted) return
      try {
        await step(AbortSignal.any([stopping, AbortSignal.timeout(STEP_MS)]))
      } catch (err) {
        this.#log.error({ err, what }, 'upkeep of builds failed')
      }
    }
  }
}

interface UpkeepAges {
  /** Age since the last use of layers and uploads; longer than any build that uses them. */
  readonly unusedMs: number
  /** Younger images may belong to a build that has not stored them yet. */
  readonly youngMs: number
}

function upkeepAges({ cacheLifetimeMs, timeoutMs }: Pick<BuildConfig, 'cacheLifetimeMs' | 'timeoutMs'>): UpkeepAges {
  return { unusedMs: Math.max(cacheLifetimeMs, timeoutMs + HOUR_MS), youngMs: Math.max(HOUR_MS, timeoutMs + HOUR_MS / 2) }
}
