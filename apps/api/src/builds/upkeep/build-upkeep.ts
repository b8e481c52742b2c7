import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { UploadFolder } from '../../uploads/upload-folder.ts'
import type { BuildConfig } from '../build-config.ts'
import { ImageCollector } from './collect-images.ts'
import { collectLayers } from './collect-layers.ts'
import { collectLogs } from './collect-logs.ts'
import { collectStrayFiles } from './collect-stray-files.ts'
import { collectUploads } from './collect-uploads.ts'
import { upkeepAges } from './upkeep-ages.ts'

export interface UpkeepParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly folder: UploadFolder
  readonly config: Pick<BuildConfig, 'cacheLifetimeMs' | 'timeoutMs'>
  readonly log: Logger
}

/**
 * Gives up what no build, tag, snapshot or sandbox needs any more. Several servers may do so at once; what fails is logged and left to the
 * next pass. Rows go before images, so that nothing is ever named that is not there.
 */
export class BuildUpkeep {
  readonly #steps: Readonly<Record<string, () => Promise<void>>>
  readonly #log: Logger

  constructor({ database, runtime, folder, log, config }: UpkeepParts) {
    const { unusedMs, youngMs } = upkeepAges(config)
    const images = new ImageCollector({ database, images: runtime.images, log })
    const files = { database, folder, log }
    this.#log = log
    this.#steps = {
      layers: () => collectLayers(database.db, unusedMs),
      images: () => images.collect(youngMs),
      uploads: () => collectUploads(files, unusedMs),
      'stray files': () => collectStrayFiles(files),
      logs: () => collectLogs(database.db),
    }
  }

  async pass(): Promise<void> {
    for (const [what, step] of Object.entries(this.#steps)) {
      try {
        await step()
      } catch (err) {
        this.#log.error({ err, what }, 'upkeep of builds failed')
      }
    }
  }
}
