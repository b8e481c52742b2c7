import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CatalogServer } from '../catalog/catalog.ts'
import type { ConfiguredServer, GithubServer } from '../catalog/to-servers.ts'
import { asUser, childEnvironment, type User } from './child-process.ts'
import { runCommand } from './run-command.ts'

export interface InstallOptions {
  readonly directory: string
  readonly user: User
  readonly environment: NodeJS.ProcessEnv
}

export interface Launch {
  readonly command: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 300_000
/** Written last, with what was installed: a folder without it is of an installation that broke off. */
const MARK = '.installed'

/** Installs the server where it is not installed, and returns how it is started. @throws Error with a sentence */
export async function installServer(
  { name, source, arguments: args, environment }: ConfiguredServer,
  options: InstallOptions,
): Promise<Launch> {
  const folder = await installSource(name, source, options)
  const launch = { environment: childEnvironment(options.environment, options.user, environment) }
  if (source.registry === 'github') return { ...launch, command: asUser(options.user, ['sh', '-c', source.runCommand]), cwd: folder }
  const program = join(folder, source.registry === 'npm' ? 'node_modules/.bin' : 'bin', source.program)
  return { ...launch, command: asUser(options.user, [program, ...args]), cwd: options.user.home }
}

/** @returns the folder of the server */
export async function installSource(name: string, source: CatalogServer | GithubServer, options: InstallOptions): Promise<string> {
  const folder = join(
    options.directory,
    source.registry,
    source.registry === 'github' ? source.repository : `${source.package}@${source.version}`,
  )
  const wanted = source.registry === 'github' ? source.installCommand : ''
  if ((await readMark(folder)) === wanted) return folder
  try {
    if (source.registry === 'github') await installFromGithub(folder, source, options)
    else await installPackage(folder, source, options)
  } catch (err) {
    throw new Error(`the server "${name}" could not be installed: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
  }
  await writeFile(join(folder, MARK), wanted)
  return folder
}

async function installPackage(
  folder: string,
  { registry, package: name, version, with: others = [] }: CatalogServer,
  options: InstallOptions,
): Promise<void> {
  const run = { environment: childEnvironment(options.environment, { name: 'root', home: '/root' }), timeoutMs: TIMEOUT_MS }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  if (registry === 'npm') {
    await runCommand(['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--omit=dev', `${name}@${version}`, ...others], run)
  } else {
    await runCommand(['python3', '-m', 'venv', '--without-pip', folder], run)
    await runCommand(
      [
        'pip',
        '--python',
        join(folder, 'bin/python'),
        'install',
        '--no-cache-dir',
        '--disable-pip-version-check',
        `${name}==${version}`,
        ...others,
      ],
      run,
    )
  }
}

/** A repository that `pull` got has no command of installation yet: that comes with the configuration. */
async function installFromGithub(folder: string, { repository, installCommand }: GithubServer, options: InstallOptions): Promise<void> {
  const run = { environment: childEnvironment(options.environment, options.user), timeoutMs: TIMEOUT_MS }
  if ((await readMark(folder)) === undefined) {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    if (process.getuid?.() === 0) await runCommand(['chown', `${options.user.name}:`, folder], run)
    await runCommand(asUser(options.user, ['git', 'clone', '--quiet', '--depth', '1', `https://github.com/${repository}`, folder]), {
      ...run,
      environment: { ...run.environment, GIT_TERMINAL_PROMPT: '0' },
    })
  }
  if (installCommand !== '') await runCommand(asUser(options.user, ['sh', '-c', installCommand]), { ...run, cwd: folder })
}

async function readMark(folder: string): Promise<string | undefined> {
  const mark = join(folder, MARK)
  return (await stat(mark).catch(() => undefined)) === undefined ? undefined : readFile(mark, 'utf8')
}
