import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { MatrixClient } from './client.ts'
import { runProgram, type ProgramEnd } from './run-program.ts'

const HOME = join(import.meta.dirname, '../../.tools/matrix')
const FLOWS = join(import.meta.dirname, 'flows')
export const INSTALL_TIMEOUT_MS = 480_000

/** A release on this machine, and how a flow is started with it. */
export interface Installation {
  readonly directory: string
  /** The program and first arguments that run this flow. */
  command(file: string): readonly [string, ...string[]]
}

/**
 * Installs one release of a client under `.tools/matrix/`, or finds it there: in a folder of its own with npm, or in a virtual environment with pip.
 *
 * @throws Error with the last lines of npm or pip
 */
export async function install(client: MatrixClient, version: string): Promise<Installation> {
  const packages = [`${client.package}@${version}`, ...(client.beside ?? [])]
  const directory = join(HOME, client.registry, packages.join('+').replaceAll('/', '+'))
  if (!existsSync(directory)) {
    await mkdir(dirname(directory), { recursive: true })
    const made = await mkdtemp(`${directory}.part-`)
    try {
      await (client.registry === 'npm' ? installWithNpm : installWithPip)(client, version, made)
      // Of two runs at the same time the first complete installation stays.
      await rename(made, directory).catch((error: unknown) => {
        if (!existsSync(directory)) throw error
      })
    } finally {
      await rm(made, { recursive: true, force: true })
    }
  }
  return client.registry === 'npm' ? nodeInstallation(directory) : pythonInstallation(directory)
}

async function installWithNpm(client: MatrixClient, version: string, directory: string): Promise<void> {
  await writeFile(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  const wanted = [`${client.package}@${version}`, ...(client.beside ?? [])]
  check(await runProgram('npm', ['install', ...quiet, ...wanted], { timeoutMs: INSTALL_TIMEOUT_MS, cwd: directory }))
}

async function installWithPip(client: MatrixClient, version: string, directory: string): Promise<void> {
  check(await runProgram('python3', ['-m', 'venv', directory], { timeoutMs: INSTALL_TIMEOUT_MS }))
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile']
  const wanted = [`${client.package}==${version}`, ...(client.beside ?? [])]
  check(await runProgram(join(directory, 'bin/python'), [...pip, ...wanted], { timeoutMs: INSTALL_TIMEOUT_MS }))
}

/** Node looks for packages above the program's folder, so the flows are copied beside them. */
async function nodeInstallation(directory: string): Promise<Installation> {
  const flows = join(directory, 'flows')
  await rm(flows, { recursive: true, force: true })
  await cp(FLOWS, flows, { recursive: true })
  return { directory, command: (file) => [process.execPath, join(flows, file)] }
}

function pythonInstallation(directory: string): Installation {
  return { directory, command: (file) => [join(directory, 'bin/python'), '-B', '-X', 'faulthandler', join(FLOWS, file)] }
}

function check({ status, isLate, stderr, stdout }: ProgramEnd): void {
  if (status === 0) return
  if (isLate) throw new Error(`it took longer than ${INSTALL_TIMEOUT_MS / 1000} s`)
  throw new Error(`${stderr}\n${stdout}`.trim().split('\n').slice(-3).join(' '))
}
