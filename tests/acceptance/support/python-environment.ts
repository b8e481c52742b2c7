import { execFile } from 'node:child_process'
import { access, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SDK = { name: 'e2b', version: '2.63.0' }
const WAIT_FOR_LOCK = ['-o', 'DPkg::Lock::Timeout=120']
const root = join(import.meta.dirname, '../../..')

/**
 * The interpreter of a virtual environment that has a package, by default the Python SDK, created on first use under `.tools/`. Test files that run at the
 * same time may call this: each builds an environment of its own, and the first complete one stays.
 *
 * @throws Error that names what is missing on this machine
 */
export async function preparePython({ name, version } = SDK): Promise<string> {
  const home = join(root, `.tools/python-with-${name}-${version}`)
  const python = join(home, 'bin/python')
  if (await exists(python)) return python
  await ensureVenvModule()
  const made = await mkdtemp(join(root, '.tools/python-'))
  try {
    await run('python3', ['-m', 'venv', made])
    await run(join(made, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`])
    await rename(made, home).catch(async (error: unknown) => {
      if (!(await exists(python))) throw error
    })
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return python
}

/** Debian's Python lacks the module that creates virtual environments; root can install it. */
async function ensureVenvModule(): Promise<void> {
  if (await canMakeVenv()) return
  if (process.getuid?.() === 0 && (await exists('/usr/bin/apt-get'))) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq', ...WAIT_FOR_LOCK], { env })
    await run('apt-get', ['install', '-y', '-qq', ...WAIT_FOR_LOCK, '--no-install-recommends', 'python3', 'python3-venv'], {
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
