import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ImageProgress } from '@sandyard/runtime-docker/images/image-progress'
import type { ProgramConfig } from './config.ts'
import type { DataDirectory } from './data/data-directory.ts'

/** What the steps of a start work with. */
export interface ProgramParts {
  readonly config: ProgramConfig
  readonly directory: DataDirectory
  readonly log: Logger
  /** Tells a person about each step. */
  readonly progress: ImageProgress
  /** Receives the undo of each step, as soon as the step is done. */
  readonly shutdown: Shutdown
  readonly environment: Environment
}
