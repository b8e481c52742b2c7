import { execFile } from 'node:child_process'
import { access, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const RELEASE = '2.63.0'
const root = join(import.meta.dirname, '../../..')

/**
 * The interpreter of a virtual environment that has the Python SDK, created on first use under `.tools/`. An incomplete
 * environment is created again.
 *
 * @throws Error that names what is missing on this machine
 */
export async function preparePython(): Promise<string> {
  const home = join(root, `.tools/python-e2b-${RELEASE}`)
  const python = join(home, 'bin/python')
  const complete = join(home, 'complete')
  if (await exists(complete)) return python
  await ensureVenvModule()
  await rm(home, { recursive: true, force: true })
  await run('python3', ['-m', 'venv', home])
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `e2b==${RELEASE}`])
  await writeFile(complete, '')
  return python
}

/** Debian's Python lacks the module that creates virtual environments; root can install it. */
async function ensureVenvModule(): Promise<void> {
  if (await canMakeVenv()) return
  if (process.getuid?.() === 0 && (await exists('/usr/bin/apt-get'))) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq'], { env })
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3', 'python3-venv'], {
      env,
      maxBuffer: 64 * 1024 * 1024,
    })
    if (await canMakeVenv()) return
  }
  throw new Error('Python 3.11 or later with the module venv is missing: install python3 and python3-venv.')
}

async function canMakeVenv(): Promise<boolean> {
  const check = 'import ensurepip, venv, sys; sys.exit(sys.version_info < (3, 11))'
  return run('python3', ['-c', check]).then(
    () => true,
    () => false,
  )
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
