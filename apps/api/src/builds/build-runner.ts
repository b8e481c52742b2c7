import type { BuilderVersion } from '@sandyard/db/schema/build'
import type { LogLevel } from '@sandyard/db/schema/build-log'
import type { RegistryCredentials } from '@sandyard/runtime/image-store'
import type { SandboxResources } from '@sandyard/runtime/types'
import type { BuildPlan, BuildResult } from './build-plan.ts'

/** `base`, the number of a step from 1, or `finalize` (control-plane.md 10.6). */
export type StepName = string

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly step?: StepName | undefined
}

/** The log of one attempt at a build. Lines keep the order of the calls and are readable within a fraction of a second. */
export interface BuildLog {
  write(line: LogLine): void
  /** Resolves when clients can read everything written so far. */
  flush(): Promise<void>
}

/** One attempt at a build. This server holds its lease. */
export interface BuildJob {
  readonly buildId: string
  readonly templateId: string
  readonly teamId: string
  readonly plan: BuildPlan
  readonly builderVersion: BuilderVersion
  readonly credentials: RegistryCredentials | undefined
  readonly resources: SandboxResources
  /** The id of the build sandbox. It is stored before the attempt begins, so upkeep removes the sandbox after any crash. */
  readonly sandboxId: string
  readonly log: BuildLog
}

/**
 * Runs the build and leaves no process or sandbox behind. It may be called again for the same build after a crash: it finds the layers of
 * earlier attempts in the cache.
 *
 * @throws BuildFailure with a message for the client; `signal.reason` when it aborts; any other error counts as an internal error
 */
export type BuildRunner = (job: BuildJob, signal: AbortSignal) => Promise<BuildResult>
