import { chmod, constants, copyFile, link, mkdir, mkdtemp, readdir, realpath, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DAEMON_VERSION } from '../src/version.ts'
import { bundleDaemon, bundleImageTool, bundleVolumeServer, findKoffiBinary, findPtyBinary, KOFFI_BINARY, PTY_BINARY } from './bundle.ts'
import { BUNDLE, writeLauncher } from './code-cache.ts'
import { hashInputs } from './input-hash.ts'
import { listSharedLibraries } from './shared-libraries.ts'
import { ensureStaticBash } from './static-bash.ts'

/** A built distribution of the daemon: all files that it needs in any image for this machine's processor. */
export interface DaemonDist {
  readonly dir: string
  /** Identifies the content: different content has a different version. */
  readonly version: string
}

const TOOLS = join(import.meta.dirname, '../../../.tools')
const MOUNT = '/opt/sandyard'
const PORT = 49_983
const LAUNCHER = 'daemon.cjs'
const IMAGE_TOOL = 'image-tool.cjs'
const VOLUME_SERVER = 'volume-server.cjs'
/**
 * A small nursery: streamed output becomes garbage at once, and with the default of 16 MiB the daemon keeps four times the memory after a
 * large stream without being faster. An idle daemon starts a collection itself.
 */
export const ENGINE_FLAGS: readonly string[] = ['--max-semi-space-size=1', '--expose-gc']

/** How long an unused distribution is kept: the server of another checkout may still copy it. */
const KEEP_MS = 3 * 24 * 60 * 60 * 1000

/**
 * Builds the daemon's distribution into `.tools/daemon-dist/<version>/` unless it exists: the bundles, this Node with its loader and
 * libraries, and a static bash if available. Concurrent calls of several processes are safe; an existing directory is always complete.
 */
export async function ensureDaemonDist(): Promise<DaemonDist> {
  const parent = join(TOOLS, 'daemon-dist')
  const bash = await ensureStaticBash(join(TOOLS, 'static-bash'))
  const version = `${DAEMON_VERSION}-${await hashInputs(join(TOOLS, '..'), bash === undefined ? [] : [bash])}`
  const dir = join(parent, version)
  if (await touch(dir)) return { dir, version }

  await mkdir(parent, { recursive: true })
  const building = await mkdtemp(join(parent, 'building-'))
  try {
    await fill(building, bash)
    await chmod(building, 0o755)
    await rename(building, dir)
  } catch (error) {
    // Another process was faster: use its result.
    if (!(await touch(dir))) throw error
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  await removeOld(parent)
  return { dir, version }
}

async function fill(dir: string, bash: string | undefined): Promise<void> {
  const node = await realpath(process.execPath)
  const [koffi, pty] = [findKoffiBinary(), findPtyBinary()]
  const { loader, libraries } = await listSharedLibraries([node, koffi, pty])
  for (const folder of ['bin', 'lib']) await mkdir(join(dir, folder))
  await place(node, join(dir, 'bin/node'))
  if (bash !== undefined) await place(bash, join(dir, 'bin/bash'))
  for (const library of [loader, ...libraries]) await copyFile(library, join(dir, 'lib', basename(library)))
  await copyFile(koffi, join(dir, KOFFI_BINARY))
  await copyFile(pty, join(dir, PTY_BINARY))
  await bundleDaemon(join(dir, BUNDLE))
  await bundleImageTool(join(dir, IMAGE_TOOL))
  await bundleVolumeServer(join(dir, VOLUME_SERVER))
  await writeLauncher(join(dir, LAUNCHER), (launcher) => runNode(dir, loader, [...ENGINE_FLAGS, launcher]))
  const manifest = {
    mount: MOUNT,
    command: runNode(MOUNT, loader, [...ENGINE_FLAGS, `${MOUNT}/${LAUNCHER}`]),
    port: PORT,
    // The caller appends the command and the JSON of the request.
    imageTool: runNode(MOUNT, loader, [`${MOUNT}/${IMAGE_TOOL}`]),
    // The caller appends the flags.
    volumeServer: runNode(MOUNT, loader, [`${MOUNT}/${VOLUME_SERVER}`]),
    ...(bash === undefined ? {} : { bash: `${MOUNT}/bin/bash` }),
  }
  await writeFile(join(dir, 'dist.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Uses the loader and the C library of the distribution, so the image may have others or none. */
function runNode(at: string, loader: string, args: readonly string[]): string[] {
  return [`${at}/lib/${basename(loader)}`, '--library-path', `${at}/lib`, `${at}/bin/node`, ...args]
}

/** Places a large file as a hard link or a reflink if possible, otherwise as a copy. */
async function place(source: string, destination: string): Promise<void> {
  await link(source, destination).catch(() => copyFile(source, destination, constants.COPYFILE_FICLONE))
}

/** Marks a distribution as used now. False if it does not exist. */
async function touch(dir: string): Promise<boolean> {
  const now = new Date()
  return utimes(join(dir, 'dist.json'), now, now).then(
    () => true,
    () => false,
  )
}

async function removeOld(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const used = await stat(join(parent, name, 'dist.json')).catch(() => stat(join(parent, name)))
    if (Date.now() - used.mtimeMs > KEEP_MS) await rm(join(parent, name), { recursive: true, force: true })
  }
}
