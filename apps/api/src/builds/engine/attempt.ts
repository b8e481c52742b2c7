import type { Readable } from 'node:stream'
import type { Database } from '@sandyard/db/database'
import type { CommandContext } from '@sandyard/db/schema/build'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import type { ImageRef } from '@sandyard/runtime/types'
import type { Daemon } from '../../daemon/daemon.ts'
import type { BuildJob } from '../build-runner.ts'
import type { BuildSandbox, SandboxParts } from './build-sandbox.ts'
import type { LayerCache } from './layer-cache.ts'
import type { Layer } from './layer-plan.ts'

/** The store of the archives for COPY steps. */
interface UploadSource {
  open(teamId: string, hash: string): Promise<Readable | undefined>
}

export interface EngineParts extends SandboxParts {
  readonly database: Database
  readonly uploads: UploadSource
  /** The limits that uploads were checked against. */
  readonly archiveLimits: ArchiveLimits
}

/** The shared state of the stages of one build. */
export interface Attempt {
  readonly parts: EngineParts
  readonly job: BuildJob
  readonly signal: AbortSignal
  readonly sandbox: BuildSandbox
  readonly cache: LayerCache
}

/** A running step. */
export interface StepRun {
  readonly attempt: Attempt
  readonly layer: Layer
  /** Prefix of its log lines. */
  readonly prefix: string
}

/** The result of the layers so far. */
export interface Progress {
  readonly image: ImageRef
  readonly context: CommandContext
  /** The running sandbox has changes that are not in the image yet. */
  readonly isAhead: boolean
}

/** The daemon of the build sandbox. Starts the sandbox if it does not run. */
export async function daemonAt({ sandbox }: Attempt, { image }: Pick<Progress, 'image'>): Promise<Daemon> {
  const daemon = sandbox.daemon ?? (await sandbox.start(image))
  sandbox.touch()
  return daemon
}
