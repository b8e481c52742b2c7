import { DaemonCallError } from '../../daemon/daemon-call-error.ts'
import type { Daemon } from '../../daemon/daemon.ts'
import { runShell, type CommandOutcome } from '../../daemon/run-shell.ts'
import { BuildFailure } from '../build-failure.ts'
import { daemonAt, type Progress, type StepRun } from './attempt.ts'
import { endLeftovers } from './end-leftovers.ts'
import type { Instruction } from './instruction.ts'
import { readPressure, untilStuck, type Pressure } from './sandbox-pressure.ts'

type RunInstruction = Extract<Instruction, { type: 'RUN' }>

/** A running command, with the state before it. */
interface CommandRun extends StepRun {
  readonly daemon: Daemon
  readonly before: Progress
  readonly instruction: RunInstruction
  readonly pressure: Pressure
  /** Whether it printed the message of a full disk. Programs report that only as text. */
  isDiskFull: boolean
}

const HOUR_MS = 60 * 60_000
const DISK_FULL = 'No space left on device'
/** The codes of a call whose connection broke. */
const BROKEN = new Set(['aborted', 'internal', 'unavailable', 'unknown'])
const OUT_OF_PROCESSES = 'the limit of processes was reached'
const STUCK = { starved: OUT_OF_PROCESSES, silent: 'the build sandbox does not answer any more' } as const

/**
 * Runs the command of a RUN (control-plane.md 11.4) and ends the processes that it leaves running: a cached layer would not have them.
 *
 * @throws BuildFailure `failed to run command '<cmd>': ...`, with the limit that the command reached
 */
export async function runCommand(step: StepRun, before: Progress, instruction: RunInstruction): Promise<void> {
  const { attempt } = step
  checkUser(step, instruction)
  const daemon = await daemonAt(attempt, before)
  const pressure = await readPressure(daemon, attempt.signal)
  const run: CommandRun = { ...step, daemon, before, instruction, pressure, isDiskFull: false }
  try {
    const outcome = await runWatched(run)
    if (typeof outcome === 'string') throw failure(run, STUCK[outcome])
    if (outcome.exitCode !== 0) throw failure(run, outcome.status, await troubleOf(run))
    await endLeftovers(daemon, attempt.signal).catch(async (err: unknown) => {
      if (!(err instanceof DaemonCallError) || BROKEN.has(err.code)) throw err
      throw failure(run, `what it left running could not be ended: ${err.detail}`, await troubleOf(run))
    })
  } catch (err) {
    if (!(err instanceof DaemonCallError)) throw err
    if (err.code === 'deadline_exceeded') throw failure(run, 'command timed out after 1h0m0s')
    if (BROKEN.has(err.code) && (await attempt.sandbox.hasEnded())) throw failure(run, 'the build sandbox has ended')
    throw failure(run, `command failed: ${err.message}`, await troubleOf(run))
  }
}

/** The header with the user ends at a colon: the daemon would ignore the text after it. */
function checkUser(run: StepRun, instruction: RunInstruction): void {
  const { user } = instruction
  if (user?.includes(':') !== true) return
  throw failure({ ...run, instruction }, `command failed: unauthenticated: invalid username: '${user}'`)
}

async function runWatched(run: CommandRun): Promise<CommandOutcome | keyof typeof STUCK> {
  const over = new AbortController()
  const signal = AbortSignal.any([run.attempt.signal, over.signal])
  const running = runAs(run, signal)
  const stuck = untilStuck(run.daemon, { begun: run.pressure, signal })
  try {
    return await Promise.race([running, stuck])
  } finally {
    over.abort()
    await Promise.allSettled([running, stuck])
  }
}

function runAs(run: CommandRun, signal: AbortSignal): Promise<CommandOutcome> {
  const { attempt, layer, prefix, before, instruction } = run
  const { log } = attempt.job
  const { env, workdir: cwd, user } = before.context
  return runShell(
    run.daemon,
    { command: instruction.command, user: instruction.user ?? user, cwd, env },
    {
      onLine: (stream, line) => {
        run.isDiskFull ||= line.includes(DISK_FULL)
        log.write({ level: 'info', message: `${prefix} [${stream}]: ${line}`, step: layer.step })
      },
      drain: () => log.flush(),
      timeoutMs: HOUR_MS,
      signal,
    },
  )
}

/** The limit that the command probably reached and did not report itself; undefined if there is none. */
async function troubleOf({ attempt, daemon, pressure, isDiskFull }: CommandRun): Promise<string | undefined> {
  const { job, signal } = attempt
  const now = await readPressure(daemon, signal).catch(() => pressure)
  signal.throwIfAborted()
  if (now.outOfMemory > pressure.outOfMemory) return `out of memory: the limit is ${job.resources.memoryMib} MiB`
  if (now.outOfProcesses > pressure.outOfProcesses) return OUT_OF_PROCESSES
  return isDiskFull ? 'the disk is full' : undefined
}

function failure({ layer, instruction }: Pick<CommandRun, 'layer' | 'instruction'>, reason: string, trouble?: string): BuildFailure {
  const message = `failed to run command '${instruction.command}': ${reason}`
  return new BuildFailure(trouble === undefined ? message : `${message} (${trouble})`, layer.step)
}
