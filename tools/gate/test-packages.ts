import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { installPackages } from '../../packages/runtime-docker/src/host/install-packages.ts'

const run = promisify(execFile)

interface TestPackage {
  readonly program: string
  /** Debian's package that contains the program. */
  readonly name: string
  /** What the tests use it for. */
  readonly purpose: string
  /** False when the tests are skipped anyway, because the machine lacks something that no package brings. */
  readonly isUsable: boolean
}

/**
 * The programs that tests start on this machine, beyond those of Debian's essential packages (coreutils, util-linux, mount, libc-bin, dpkg,
 * apt), of git, nodejs and npm, and of the engine's package (docker.io). The browser is prepared by `test-browser.ts`. Three more are prepared by the tests that use them, without
 * a change of the machine if possible: docker-registry and prometheus (`packages/runtime-docker/test/support/debian-program.ts`), and a Python
 * environment (`tests/acceptance/support/python-environment.ts`). All other programs run inside containers.
 */
const TEST_PACKAGES: readonly TestPackage[] = [
  { program: 'bindfs', name: 'bindfs', purpose: 'watchers on network file systems', isUsable: existsSync('/dev/fuse') },
  { program: 'curl', name: 'curl', purpose: 'names below localhost, which curl resolves by itself', isUsable: true },
  { program: 'ps', name: 'procps', purpose: 'the processes of a container: `docker top` runs the ps of this machine', isUsable: true },
  { program: 'python3', name: 'python3', purpose: 'watchers of two directories that are exchanged', isUsable: true },
]

/** Installs the missing packages. If that fails, it prints the reason, and the tests report it or that they were skipped. */
export async function ensureTestPackages(say: (line: string) => void): Promise<void> {
  const isMissing = await Promise.all(TEST_PACKAGES.map(async ({ program, isUsable }) => isUsable && !(await runs(program))))
  const missing = TEST_PACKAGES.filter((_, index) => isMissing[index])
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || !(await runs('apt-get'))) {
    for (const { name, purpose } of missing) {
      say(`${name} is not installed (${purpose}), and only root on Debian or Ubuntu can install it from here: install it to run all tests.`)
    }
    return
  }
  await installPackages(
    missing.map(({ name }) => name),
    { say, env: {} },
  ).catch((err: unknown) => say((err as Error).message))
}

function runs(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  )
}
