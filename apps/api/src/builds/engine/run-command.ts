import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { runShell, type CommandOutcome } from '../../daemon/run-shell.ts'
import { BuildFailure } from '../build-failure.ts'
import { daemonAt, type Progress } from './attempt.ts'
import { endLeftovers } from './end-leftovers.ts'
import type { Instruction } from './instruction.ts'
import type { StepRun } from './run-step.ts'
import { readPressure, troubleOf } from './sandbox-pressure.ts'

const HOUR_MS = 60 * 60_000

/**
 * Runs the command of a RUN (control-plane.md 11.4). What it leaves running is ended: a build from the cache would not have it.
 *
 * @throws BuildFailure `failed to run command '<cmd>': ...`
 */
export async function runCommand(run: StepRun, before: Progress, instruction: Extract<Instruction, { type: 'RUN' }>): Promise<void> {
  const { attempt, layer } = run
  const { command } = instruction
  const daemon = await daemonAt(attempt, before)
  const pressure = await readPressure(daemon, attempt.signal)
  const fail = async (reason: string, cause?: unknown): Promise<never> => {
    attempt.signal.throwIfAborted()
    const trouble = await troubleOf(attempt, pressure)
    throw new BuildFailure(`failed to run command '${command}': ${reason}${trouble === undefined ? '' : ` (${trouble})`}`, layer.step, {
      cause,
    })
  }
  try {
    const { exitCode, status } = await runAs(run, daemon, { before, instruction })
    if (exitCode !== 0) return await fail(status)
    await endLeftovers(daemon, attempt.signal)
  } catch (err) {
    if (!(err instanceof DaemonCallError)) throw err
    return fail(err.code === 'deadline_exceeded' ? 'command timed out after 1h0m0s' : `command failed: ${err.message}`, err)
  }
}

function runAs(
  { attempt, layer, prefix }: StepRun,
  daemon: Daemon,
  { before, instruction }: { readonly before: Progress; readonly instruction: Extract<Instruction, { type: 'RUN' }> },
): Promise<CommandOutcome> {
  const { job, signal } = attempt
  const { env, workdir } = before.context
  const user = instruction.user ?? before.context.user
  return runShell(
    daemon,
    { command: instruction.command, user, cwd: workdir, env },
    {
      onLine: (stream, line) => job.log.write({ level: 'info', message: `${prefix} [${stream}]: ${line}`, step: layer.step }),
      drain: () => job.log.flush(),
      timeoutMs: HOUR_MS,
      signal,
    },
  )
}
