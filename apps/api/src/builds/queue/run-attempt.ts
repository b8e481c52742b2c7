import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Tx } from '@sandyard/db/database'
import { orGivenUp } from '@sandyard/kit/async/within'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { inRootSpan } from '@sandyard/kit/tracing/span'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import { BuildFailure, FAILURES } from '../build-failure.ts'
import type { BuildJob, BuildRunner } from '../build-runner.ts'
import { appendLog, type StoredLine } from './append-log.ts'
import type { AttemptLease } from './attempt-lease.ts'
import { AttemptLostError, holdAttempt, releaseAttempt } from './build-attempt.ts'
import { BuildLogWriter } from './build-log-writer.ts'
import type { ClaimedBuild } from './claim-build.ts'
import { removeBuildSandbox } from './remove-build-sandbox.ts'
import { unsealCredentials } from './sealed-credentials.ts'
import { settleBuild, type BuildOutcome } from './settle-build.ts'

export interface AttemptParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly tokenSeed: Secret
  readonly runner: BuildRunner
  readonly log: Logger
}

/** The server stops or drains: the build goes back to the queue. */
export class ServerStopsError extends Error {
  override readonly name = 'ServerStopsError'
}

/** The outcome of an attempt. `lost`: this server does not own the build any more. */
export type AttemptEnd = 'ready' | 'failed' | 'released' | 'lost'

type Result = BuildOutcome | { readonly kind: 'released' } | { readonly kind: 'lost' }

interface Work {
  readonly claimed: ClaimedBuild
  readonly lease: AttemptLease
  readonly log: BuildLogWriter
}

/** A build is failed after this many dead servers, because it may be the cause. */
const MAX_ABANDONED = 3
/** How long an aborted runner may clean up. Upkeep removes the rest. */
const TIDY_MS = 15_000
const RETRY_MS = 1000

/**
 * Runs a claimed build until it has ended, its lease has ended or the server stops. Only the owner of the lease stores the end, once. While
 * the database does not answer, the write is retried until the lease ends.
 */
export async function runAttempt(parts: AttemptParts, claimed: ClaimedBuild, lease: AttemptLease): Promise<AttemptEnd> {
  const log = new BuildLogWriter({ ...parts, onLost: (reason) => lease.end(reason) }, claimed, claimed.logCount)
  const result = await traced(claimed, () => build(parts, { claimed, lease, log }))
  const lastLines = await log.close(new AttemptLostError(claimed))
  if (result.kind === 'lost') return 'lost'
  while (true) {
    try {
      return await parts.database.transaction((tx) => conclude(tx, claimed, { result, lastLines }))
    } catch (err) {
      if (err instanceof AttemptLostError || lease.isLost) return 'lost'
      parts.log.error({ err, buildId: claimed.buildId }, 'the end of a build could not be stored yet')
      await delay(RETRY_MS)
    }
  }
}

/** A build is a trace of its own: its request was answered when it was queued. */
function traced({ buildId, templateId, teamId, attempt }: ClaimedBuild, work: () => Promise<Result>): Promise<Result> {
  const ids = { 'sandyard.build_id': buildId, 'sandyard.template_id': templateId, 'sandyard.team_id': teamId }
  return inRootSpan('build', { ...ids, 'sandyard.attempt': attempt }, async (span) => {
    const result = await work()
    span?.set({ 'sandyard.outcome': result.kind })
    return result
  })
}

/** A cancelled build ends as cancelled, even if the attempt succeeded. */
async function conclude(
  tx: Tx,
  claimed: ClaimedBuild,
  { result, lastLines }: { readonly result: Exclude<Result, { kind: 'lost' }>; readonly lastLines: readonly StoredLine[] },
): Promise<AttemptEnd> {
  const { cancelReason } = await holdAttempt(tx, claimed)
  const outcome = cancelReason === undefined ? result : { kind: 'failed' as const, message: cancelReason }
  if (outcome.kind === 'released') {
    await appendLog(tx, claimed.buildId, lastLines)
    await releaseAttempt(tx, claimed)
    return 'released'
  }
  await settleBuild(tx, claimed.buildId, outcome, lastLines)
  return outcome.kind
}

async function build(parts: AttemptParts, work: Work): Promise<Result> {
  const { claimed, lease } = work
  try {
    await removeFormer(parts, claimed)
    if (claimed.cancelReason !== undefined) throw new BuildFailure(claimed.cancelReason)
    if (claimed.remainingMs <= 0) throw new BuildFailure(FAILURES.timedOut)
    if (claimed.abandoned >= MAX_ABANDONED) throw new Error(`${claimed.abandoned} servers died while they ran this build`)
    if (claimed.attempt > 1)
      work.log.write({ level: 'warn', message: `The build begins again (attempt ${claimed.attempt}): its server stopped.` })
    return { kind: 'ready', result: await orGivenUp(parts.runner(toJob(parts, work), lease.signal), lease.signal, TIDY_MS) }
  } catch (err) {
    return toResult(parts, claimed, lease.signal.aborted ? lease.signal.reason : err)
  }
}

function toResult({ log }: AttemptParts, { buildId, templateId, attempt }: ClaimedBuild, cause: unknown): Result {
  if (cause instanceof AttemptLostError) return { kind: 'lost' }
  if (cause instanceof ServerStopsError) return { kind: 'released' }
  if (cause instanceof BuildFailure) return { kind: 'failed', message: cause.message, step: cause.step }
  log.error({ err: cause, buildId, templateId, attempt }, 'build failed unexpectedly')
  return { kind: 'failed', message: FAILURES.internal }
}

/** A failed removal does not delay the build: upkeep retries it. */
async function removeFormer({ runtime, log }: AttemptParts, { buildId, formerSandboxId }: ClaimedBuild): Promise<void> {
  if (formerSandboxId === undefined) return
  try {
    await removeBuildSandbox(runtime, formerSandboxId)
  } catch (err) {
    log.warn({ err, buildId, sandboxId: formerSandboxId }, 'the sandbox of a former attempt could not be removed yet')
  }
}

function toJob({ tokenSeed }: AttemptParts, { claimed, log }: Work): BuildJob {
  const { buildId, templateId, teamId, plan, builderVersion, resources, sandboxId, sealedCredentials } = claimed
  const credentials = sealedCredentials && unsealCredentials(tokenSeed, buildId, sealedCredentials)
  return { buildId, templateId, teamId, plan, builderVersion, credentials, resources, sandboxId, log }
}
