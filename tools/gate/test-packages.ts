import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { installPackages } from '../../packages/runtime-docker/src/host/install-packages.ts'

const run = promisify(execFile)

/**
 * Installs packages that only tests need: bindfs, a FUSE server, for the tests of watchers on network file systems. If that fails it
 * prints the reason, and those tests report that they were skipped.
 */
export async function ensureTestPackages(say: (line: string) => void): Promise<void> {
  // Without the device the tests are skipped anyway.
  if (!existsSync('/dev/fuse') || (await runs('bindfs'))) return
  if (process.getuid?.() !== 0 || !(await runs('apt-get'))) {
    say('bindfs is not installed, and only root on Debian or Ubuntu can install it from here: install it to run all tests.')
    return
  }
  await installPackages(['bindfs'], say).catch((err: unknown) => say((err as Error).message))
}

function runs(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  )
}
