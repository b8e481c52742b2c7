import type { Daemon } from '../../daemon/daemon.ts'
import { startUntilReady } from '../../daemon/start-until-ready.ts'
import type { ReadyBuild } from '../../templates/template.ts'

type StartCommand = Pick<ReadyBuild, 'startCmd' | 'readyCmd' | 'startContext'>

/** The ready command of clients and the server for a start command that has none: a fixed wait that checks nothing. */
const NO_READY_CMD = 'sleep 20'
/** The default directory may belong to another template than the start command. */
const HOME = '~'
const PAUSE_MS = { first: 50, longest: 2000 } as const

/**
 * Runs the template's start command and waits until it is ready. (Upstream sandboxes resume it from captured memory, control-plane.md 23.)
 * Does not wait for `sleep 20`.
 *
 * @throws StartCommandError when the command fails before it is ready: the sandbox would not match its template
 */
export async function runStartCommand(
  daemon: Daemon,
  { startCmd, readyCmd, startContext }: StartCommand,
  signal: AbortSignal,
): Promise<void> {
  if (startCmd === undefined) return
  const as = startContext && { user: startContext.user, cwd: startContext.workdir ?? HOME, env: startContext.env }
  const isAsked = readyCmd !== undefined && readyCmd.trim() !== NO_READY_CMD
  const request = { start: { command: startCmd, ...as }, ready: isAsked ? { command: readyCmd, ...as } : undefined }
  await startUntilReady(daemon, request, { pauseMs: pauseAfter, signal })
}

function pauseAfter(tries: number): number {
  return Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** (tries - 1))
}
