import { isDeepStrictEqual } from 'node:util'
import type { CommandContext } from '@sandyard/db/schema/build'
import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { startUntilReady, StartCommandError, type ReadinessOptions } from '../../daemon/start-until-ready.ts'
import { BuildFailure } from '../build-failure.ts'
import type { BuildResult } from '../build-plan.ts'
import { daemonAt, type Attempt, type Progress } from './attempt.ts'
import { endGently } from './end-leftovers.ts'
import { runImageTool } from './image-tool.ts'
import type { Layer } from './layer-plan.ts'
import type { SourceBuild } from './source-build.ts'
import { DEFAULT_USER, defaultUserOf } from './step-context.ts'
import { templateCommands, type TemplateCommands } from './template-commands.ts'

const STEP = 'finalize'
const CONFIGURE_TIMEOUT_MS = 5 * 60_000
const READY_TIMEOUT_MS = 10 * 60_000
const READY_PAUSE_MS = 2000

export interface FinalizeRequest {
  readonly layer: Layer
  /** The last layer before the finalize layer. */
  readonly previous: Layer
  readonly before: Progress
  readonly source: SourceBuild | undefined
}

/**
 * Makes a template from the result of the steps: ends all processes except the start command (control-plane.md 11.6).
 *
 * @throws BuildFailure
 */
export async function finalizeBuild(attempt: Attempt, { layer, previous, before, source }: FinalizeRequest): Promise<BuildResult> {
  const { job, sandbox, cache } = attempt
  const { context } = before
  let { image } = before
  if (before.isAhead) {
    image = await sandbox.capture()
    await cache.keep({ key: previous.key, image, result: { context } }, { replace: !previous.isCacheable })
  }
  const commands = templateCommands(job.plan, context, source)
  const daemon = await daemonFor(attempt, image, commands)
  const configure = {
    command: 'finalize',
    args: { user: DEFAULT_USER },
    step: STEP,
    prefix: '[finalize]',
    timeoutMs: CONFIGURE_TIMEOUT_MS,
  } as const
  await runImageTool(attempt, daemon, configure)
  await bringUp(attempt, daemon, commands)
  // The image keeps no processes, so their data must be flushed to disk first.
  if (commands.startCmd !== undefined) await endGently(daemon, attempt.signal)
  const defaultUser = defaultUserOf(job.plan, job.builderVersion, context)
  const result = toResult(await sandbox.capture(), { ...context, user: defaultUser }, commands)
  await cache.keep({ key: layer.key, image: result.image, result: { build: result } }, { replace: !layer.isCacheable })
  return result
}

/**
 * A start command must run in a fresh sandbox, with files only. Without commands the sandbox of the steps is reused, which saves a start:
 * its processes were ended after each step.
 */
async function daemonFor(attempt: Attempt, image: string, { startCmd, readyCmd }: TemplateCommands): Promise<Daemon> {
  const { sandbox } = attempt
  if (startCmd === undefined && readyCmd === undefined) return daemonAt(attempt, { image })
  return sandbox.untouchedFrom(image) ?? (await sandbox.start(image))
}

async function bringUp({ job, signal }: Attempt, daemon: Daemon, { startCmd, readyCmd, context }: TemplateCommands): Promise<void> {
  const info = (message: string): void => job.log.write({ level: 'info', message, step: STEP })
  const { user, workdir: cwd, env } = context
  const late = AbortSignal.timeout(READY_TIMEOUT_MS)
  const options: ReadinessOptions = {
    pauseMs: () => READY_PAUSE_MS,
    onLine: (source, stream, line) =>
      job.log.write({ level: source === 'start' ? 'info' : 'debug', message: `[${source}] [${stream}]: ${line}`, step: STEP }),
    onWaiting: () => info(`Waiting for template to be ready: ${readyCmd}`),
    signal: AbortSignal.any([signal, late]),
  }
  if (startCmd !== undefined) info(`Running start command: ${startCmd}`)
  try {
    const start = startCmd === undefined ? undefined : { command: startCmd, user, cwd, env }
    const ready = readyCmd === undefined ? undefined : { command: readyCmd, user, cwd, env }
    await startUntilReady(daemon, { start, ready }, options)
  } catch (err) {
    signal.throwIfAborted()
    if (late.aborted) throw new BuildFailure('ready command failed: ready command timed out after 10m0s', STEP, { cause: err })
    if (err instanceof StartCommandError) throw new BuildFailure(`start command failed: ${err.message}`, STEP, { cause: err })
    if (err instanceof DaemonCallError) throw new BuildFailure(`ready command failed: ${err.message}`, STEP, { cause: err })
    throw err
  }
  if (readyCmd !== undefined) info('Template is ready')
}

/** `context` is that of the template's processes. The context of the start command is stored only if it differs. */
function toResult(image: string, context: CommandContext, { startCmd, readyCmd, context: startContext }: TemplateCommands): BuildResult {
  const { user, workdir, env } = context
  return {
    image,
    defaultUser: user,
    defaultWorkdir: workdir ?? '',
    env,
    ...(startCmd !== undefined && { startCmd }),
    ...(readyCmd !== undefined && { readyCmd }),
    ...(startCmd !== undefined && !isDeepStrictEqual(startContext, context) && { startContext }),
  }
}
