import { setTimeout as delay } from 'node:timers/promises'
import type { Database, Tx } from '@sandyard/db/database'
import type { Secret } from '@sandyard/kit/config/secret'
import type { Logger } from '@sandyard/kit/logging/create-logger'
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

/** The server stops: the build goes back to the queue. */
export class ServerStopsError extends Error {
  override readonly name = 'ServerStopsError'
}

/** What became of an attempt. `lost` is what this server may not decide any more. */
export type AttemptEnd = 'ready' | 'failed' | 'released' | 'lost'

type Result = BuildOutcome | { readonly kind: 'released' } | { readonly kind: 'lost' }

interface Work {
  readonly claimed: ClaimedBuild
  readonly lease: AttemptLease
  readonly log: BuildLogWriter
}

/** A build whose servers go away so often is taken for the reason of it. */
const MAX_ABANDONED = 3
/** What a runner that was told to stop gets for tidying up. Upkeep removes what it leaves behind after that. */
const TIDY_MS = 15_000
const RETRY_MS = 1000

/**
 * Works at a claimed build until it has ended, its turn is over or the server stops. The end is written once, by whoever's turn it is;
 * a database that does not answer is asked again for as long as the lease holds.
 */
export async function runAttempt(parts: AttemptParts, claimed: ClaimedBuild, lease: AttemptLease): Promise<AttemptEnd> {
  const log = new BuildLogWriter({ ...parts, onLost: (reason) => lease.end(reason) }, claimed, claimed.logCount)
  const result = await build(parts, { claimed, lease, log })
  const lastLines = await log.close(new AttemptLostError(claimed))
  if (result.kind === 'lost') return 'lost'
  while (true) {
    try {
      return await parts.database.transaction((tx) => conclude(tx, claimed, { result, lastLines }))
    } catch (err) {
      if (err instanceof AttemptLostError || lease.isLost) return 'lost'
      parts.log.error({ err, buildId: claimed.buildId }, 'the end of a build could not be written yet')
      await delay(RETRY_MS)
    }
  }
}

/** A build that is to be cancelled is, whatever the attempt has reached. */
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
    if (claimed.abandoned >= MAX_ABANDONED) throw new Error(`${claimed.abandoned} servers went away while they worked at this build`)
    if (claimed.attempt > 1)
      work.log.write({ level: 'warn', message: `The build begins again (attempt ${claimed.attempt}): its server stopped.` })
    return { kind: 'ready', result: await orGivenUp(parts.runner(toJob(parts, work), lease.signal), lease.signal) }
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

/** What cannot be removed now is removed by upkeep: nobody's build waits for that. */
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

/** The outcome of a runner, which is not waited for much longer once it was told to stop. */
async function orGivenUp<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  const givenUp = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const giveUp = (): void => {
    timer = setTimeout(() => givenUp.reject(signal.reason as Error), TIDY_MS)
  }
  if (signal.aborted) giveUp()
  else signal.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([running, givenUp.promise])
  } finally {
    signal.removeEventListener('abort', giveUp)
    clearTimeout(timer)
  }
}
