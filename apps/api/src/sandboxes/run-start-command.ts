import type { Daemon } from '../daemon/daemon.ts'
import { startUntilReady } from '../daemon/start-until-ready.ts'
import type { ReadyBuild } from '../templates/template.ts'

export interface StartCommandRequest {
  readonly build: Pick<ReadyBuild, 'startCmd' | 'readyCmd' | 'startContext'>
  /** What the caller of the create has set. */
  readonly envVars: Readonly<Record<string, string>>
}

/** What clients and the server put where a start command comes without a ready command: a wait for nothing that could be known. */
const NO_READY_CMD = 'sleep 20'
/** The default directory may be another template's than the one that the command comes from. */
const HOME = '~'
const PAUSE_MS = { first: 50, longest: 2000 } as const

/**
 * Starts what the template keeps running, and waits until it is ready: upstream's sandboxes come with it, out of the memory that a build
 * captured (control-plane.md 23). `sleep 20` is not waited for. The commands see the variables of the sandbox, the caller's before all.
 *
 * @throws StartCommandError when it fails before it is ready: a sandbox without it is not what the template promises
 */
export async function runStartCommand(daemon: Daemon, { build, envVars }: StartCommandRequest, signal: AbortSignal): Promise<void> {
  const { startCmd, readyCmd, startContext } = build
  if (startCmd === undefined) return
  const as = startContext && { user: startContext.user, cwd: startContext.workdir ?? HOME, env: { ...startContext.env, ...envVars } }
  const isAsked = readyCmd !== undefined && readyCmd.trim() !== NO_READY_CMD
  const request = { start: { command: startCmd, ...as }, ready: isAsked ? { command: readyCmd, ...as } : undefined }
  await startUntilReady(daemon, request, { pauseMs: pauseAfter, signal })
}

function pauseAfter(tries: number): number {
  return Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** (tries - 1))
}
