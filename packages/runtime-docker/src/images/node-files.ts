import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { lastLine, runStep } from '../host/run-step.ts'

/** Exact versions in the npm registry. */
export interface NodeVersions {
  readonly node: string
  readonly npm: string
  readonly yarn: string
}

/** A folder that is removed on dispose. */
export interface NodeFiles extends AsyncDisposable {
  /** Contains `local/`, which becomes `/usr/local` of an image. */
  readonly folder: string
}

const PROGRAMS = {
  npm: '../lib/node_modules/npm/bin/npm-cli.js',
  npx: '../lib/node_modules/npm/bin/npx-cli.js',
  yarn: '../lib/node_modules/yarn/bin/yarn.js',
  yarnpkg: '../lib/node_modules/yarn/bin/yarn.js',
} as const

/** Manuals, which are not needed in an image. */
const NPM_MANUALS = ['docs', 'man']
const TIMEOUT_MS = 300_000

/**
 * Node for this machine's processor, with npm and yarn, from the npm registry. The machine's own npm downloads them, so its registry,
 * proxy and certificates are used, and cached packages are not downloaded again.
 *
 * @throws AppError `failed_precondition` that says what to do
 */
export async function fetchNodeFiles({ node, npm, yarn }: NodeVersions, onLine: (line: string) => void): Promise<NodeFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-node-'))
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const binary = `node-linux-${process.arch}`
    const packages = [`${binary}@${node}`, `npm@${npm}`, `yarn@${yarn}`]
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
    const { ok, tail } = await runStep('npm', ['install', '--prefix', folder, ...options, ...packages], { timeoutMs: TIMEOUT_MS, onLine })
    if (!ok) {
      throw new AppError(
        'failed_precondition',
        `Node ${node} could not be downloaded from the npm registry (${lastLine(tail)}): check that npm reaches it, and run this again.`,
      )
    }
    await arrange(folder, binary)
    return { folder, [Symbol.asyncDispose]: dispose }
  } catch (err) {
    await dispose()
    throw err
  }
}

async function arrange(folder: string, binary: string): Promise<void> {
  const [modules, local] = [join(folder, 'node_modules'), join(folder, 'local')]
  await mkdir(join(local, 'bin'), { recursive: true })
  await mkdir(join(local, 'lib/node_modules'), { recursive: true })
  await rename(join(modules, binary, 'bin/node'), join(local, 'bin/node'))
  for (const name of NPM_MANUALS) await rm(join(modules, 'npm', name), { recursive: true, force: true })
  for (const name of ['npm', 'yarn']) await rename(join(modules, name), join(local, 'lib/node_modules', name))
  for (const [name, target] of Object.entries(PROGRAMS)) await symlink(target, join(local, 'bin', name))
}
