import { timedStep } from '@sandyard/kit/async/timed-step'
import { AppError } from '@sandyard/kit/errors/app-error'
import { lastLine, runStep } from './run-step.ts'

const UPDATE_TIMEOUT_MS = 180_000
const INSTALL_TIMEOUT_MS = 600_000
/** Another apt may be running (unattended upgrades): wait for it. */
const PATIENCE = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3']

/** A start installs at most twice within a few minutes. */
let areListsFresh = false
/** One apt at a time: a second one fails at the lock of the package lists or of the downloads, for which apt does not wait. */
let turn: Promise<unknown> = Promise.resolve()

export interface InstallOptions {
  readonly say: (line: string) => void
  /** Variables for apt, such as those of a proxy. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Installs packages of Debian or Ubuntu on this machine, as root. A failed refresh of the package lists is not fatal,
 * because one broken third-party source makes the whole refresh fail; a missing package is fatal.
 *
 * @throws AppError `failed_precondition` that names the packages and apt's last line
 */
export function installPackages(packages: readonly string[], options: InstallOptions): Promise<void> {
  const result = turn.then(() => install(packages, options))
  turn = result.catch(() => undefined)
  return result
}

async function install(packages: readonly string[], { say, env }: InstallOptions): Promise<void> {
  const names = packages.join(', ')
  if (!areListsFresh) await timedStep(say, 'refreshing the package lists (apt-get update)', () => refreshLists(env))
  const { ok, tail } = await timedStep(say, `installing ${names} (apt-get install)`, () =>
    runStep('apt-get', [...PATIENCE, 'install', '-q', '-y', '--no-install-recommends', ...packages], {
      timeoutMs: INSTALL_TIMEOUT_MS,
      env,
    }),
  )
  if (ok) return
  throw new AppError('failed_precondition', `${names} could not be installed (${lastLine(tail)}): install it by hand and run this again.`)
}

async function refreshLists(env: InstallOptions['env']): Promise<void> {
  const { ok } = await runStep('apt-get', [...PATIENCE, 'update', '-q'], { timeoutMs: UPDATE_TIMEOUT_MS, env })
  areListsFresh = ok
}
