import { AppError } from '@sandyard/kit/errors/app-error'
import { lastLine, runStep } from './run-step.ts'

const UPDATE_TIMEOUT_MS = 180_000
const INSTALL_TIMEOUT_MS = 600_000
/** Another apt may be running (unattended upgrades): it is waited for. */
const PATIENCE = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3']

/**
 * Installs packages of Debian or Ubuntu on this machine, as root. A failed refresh of the package lists is not fatal,
 * because one broken third-party source fails the whole of it; a missing package is.
 *
 * @throws AppError `failed_precondition` that names the packages and apt's last line
 */
export async function installPackages(packages: readonly string[], say: (line: string) => void): Promise<void> {
  say('refreshing the package lists (apt-get update) ...')
  await runStep('apt-get', [...PATIENCE, 'update', '-q'], { timeoutMs: UPDATE_TIMEOUT_MS })
  say(`installing ${packages.join(', ')} (apt-get install) ...`)
  const { ok, tail } = await runStep('apt-get', [...PATIENCE, 'install', '-q', '-y', '--no-install-recommends', ...packages], {
    timeoutMs: INSTALL_TIMEOUT_MS,
  })
  if (ok) return
  const names = packages.join(', ')
  throw new AppError('failed_precondition', `${names} could not be installed (${lastLine(tail)}): install it by hand and run this again.`)
}
