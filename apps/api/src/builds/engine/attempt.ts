import type { Readable } from 'node:stream'
import type { Database } from '@sandyard/db/database'
import type { CommandContext } from '@sandyard/db/schema/build'
import type { ArchiveLimits } from '@sandyard/kit/archive/entry-rules'
import type { ImageRef } from '@sandyard/runtime/types'
import type { Daemon } from '../../daemon/daemon.ts'
import type { BuildJob } from '../build-runner.ts'
import type { BuildSandbox, SandboxParts } from './build-sandbox.ts'
import type { LayerCache } from './layer-cache.ts'

/** Where the archives of COPY steps are. */
interface UploadSource {
  open(teamId: string, hash: string): Promise<Readable | undefined>
}

export interface EngineParts extends SandboxParts {
  readonly database: Database
  readonly uploads: UploadSource
  /** What uploads were accepted with. */
  readonly archiveLimits: ArchiveLimits
}

/** What every stage of one build works with. */
export interface Attempt {
  readonly parts: EngineParts
  readonly job: BuildJob
  readonly signal: AbortSignal
  readonly sandbox: BuildSandbox
  readonly cache: LayerCache
}

/** How far a build has come. */
export interface Progress {
  readonly image: ImageRef
  readonly context: CommandContext
  /** The sandbox, which runs, has files that the image has not. */
  readonly isAhead: boolean
}

/** The daemon of the build sandbox, to go on with; starts it where it does not run. */
export async function daemonAt({ sandbox }: Attempt, { image }: Pick<Progress, 'image'>): Promise<Daemon> {
  const daemon = sandbox.daemon ?? (await sandbox.start(image))
  sandbox.touch()
  return daemon
}
