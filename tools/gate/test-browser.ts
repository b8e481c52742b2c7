import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installPackages } from '../../packages/runtime-docker/src/host/install-packages.ts'

const run = promisify(execFile)
const VERSION_TIMEOUT_MS = 60_000

/** Debian's package of a Chromium without windows: it starts and renders faster than the complete one. */
const PACKAGE = 'chromium-headless-shell'
const PROGRAMS = [PACKAGE, 'chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser']

/**
 * The program for the tests of the dashboard: the one that `SANDYARD_TEST_BROWSER` names, an installed one, or Debian's package, installed now.
 *
 * @throws Error with the reason of a skip, where there is none and none can be installed
 */
export async function ensureTestBrowser(say: (line: string) => void): Promise<string> {
  const given = process.env['SANDYARD_TEST_BROWSER']
  if (given !== undefined && given !== '') return given
  const installed = await findBrowser()
  if (installed !== undefined) return installed
  if (process.getuid?.() !== 0 || !(await runs('apt-get'))) throw absent('install it by hand: only root on Debian can do it from here')
  await installPackages([PACKAGE], { say, env: {} }).catch((err: unknown) => {
    throw absent((err as Error).message)
  })
  const program = await findBrowser()
  if (program === undefined) throw absent('its package is installed, but the program does not start')
  return program
}

function absent(why: string): Error {
  return new Error(`absent here: a Chromium for the tests of the dashboard (${PACKAGE}); ${why}`)
}

async function findBrowser(): Promise<string | undefined> {
  for (const program of PROGRAMS) {
    const { stdout } = await run('which', [program]).catch(() => ({ stdout: '' }))
    const path = stdout.trim()
    if (path !== '' && (await runs(path))) return path
  }
  return undefined
}

function runs(program: string): Promise<boolean> {
  return run(program, ['--version'], { timeout: VERSION_TIMEOUT_MS }).then(
    () => true,
    () => false,
  )
}
