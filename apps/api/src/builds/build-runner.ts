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

/** The log of one attempt at a build. Lines keep the order of the calls and reach readers within a fraction of a second. */
export interface BuildLog {
  write(line: LogLine): void
  /** Resolves when everything written so far can be read by clients. */
  flush(): Promise<void>
}

/** One attempt at a build by this server, which holds its lease. */
export interface BuildJob {
  readonly buildId: string
  readonly templateId: string
  readonly teamId: string
  readonly plan: BuildPlan
  readonly builderVersion: BuilderVersion
  readonly credentials: RegistryCredentials | undefined
  readonly resources: SandboxResources
  /** The id of the sandbox to build in: recorded before the attempt begins, so that whatever happens it is removed. */
  readonly sandboxId: string
  readonly log: BuildLog
}

/**
 * Builds, and leaves nothing running behind. It may be called again for the same build after any crash: what earlier attempts
 * finished is found in the cache.
 *
 * @throws BuildFailure for what the client is told; `signal.reason` when it aborts; anything else counts as an internal error
 */
export type BuildRunner = (job: BuildJob, signal: AbortSignal) => Promise<BuildResult>
