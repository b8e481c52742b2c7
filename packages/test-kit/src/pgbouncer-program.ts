import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const TOOLS = join(import.meta.dirname, '../../../.tools')
const FOLDER = join(TOOLS, 'pgbouncer')
const INSTALLED = '/usr/sbin/pgbouncer'
const TIMEOUT_MS = 180_000

export interface PgBouncerProgram {
  readonly path: string
  /** The folders of its libraries, for `LD_LIBRARY_PATH`. */
  readonly libraries: readonly string[]
}

/**
 * The installed PgBouncer, else the one of Debian's package with the libraries that are missing here, unpacked below `.tools`: an installed package would
 * start its service.
 *
 * @throws Error when it is not installed and apt cannot download it
 */
export async function findPgBouncer(): Promise<PgBouncerProgram> {
  if (existsSync(INSTALLED)) return { path: INSTALLED, libraries: [] }
  if (!existsSync(FOLDER)) await unpack()
  const library = join(FOLDER, 'usr/lib')
  const folders = await readdir(library, { withFileTypes: true }).catch(() => [])
  return { path: join(FOLDER, INSTALLED), libraries: folders.filter((entry) => entry.isDirectory()).map(({ name }) => join(library, name)) }
}

async function unpack(): Promise<void> {
  await mkdir(TOOLS, { recursive: true })
  const scratch = await mkdtemp(join(TOOLS, 'pgbouncer-'))
  try {
    await mkdir(join(scratch, 'partial'))
    try {
      await download(scratch)
    } catch {
      await run('apt-get', ['update', '-q'], { timeout: TIMEOUT_MS })
      await download(scratch)
    }
    const files = (await readdir(scratch)).filter((name) => name.endsWith('.deb'))
    for (const file of files) await run('dpkg-deb', ['-x', join(scratch, file), join(scratch, 'root')], { timeout: TIMEOUT_MS })
    // Another test run may have been faster.
    await rename(join(scratch, 'root'), FOLDER).catch(() => undefined)
  } catch (cause) {
    throw new Error('PgBouncer is not installed, and apt cannot download it: install it to run this test', { cause })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Downloads the package and those of its dependencies that are missing here; installs nothing and needs no rights. */
async function download(folder: string): Promise<void> {
  const options = ['-o', 'Debug::NoLocking=1', '-o', `Dir::Cache::archives=${folder}`, '-o', 'APT::Sandbox::User=root']
  const args = [...options, 'install', '-q', '-y', '--download-only', '--no-install-recommends', 'pgbouncer']
  await run('apt-get', args, { timeout: TIMEOUT_MS })
}
