import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { access, chmod, constants, copyFile, link, mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { DaemonDist } from '../../src/daemon-volume/daemon-dist.ts'
import { daemonSource } from './stand-in-daemon.ts'

export const DAEMON_PORT = 49_983

export const STAND_IN_COMMAND =
  '/opt/sandyard/lib/ld-linux-x86-64.so.2 --library-path /opt/sandyard/lib /opt/sandyard/bin/node /opt/sandyard/daemon.mjs'.split(' ')

const SHARED = join(import.meta.dirname, '../../../../.tools/stand-in-dist')

/** Puts more into a distribution that no engine has yet. */
export interface DistPart {
  /** Another one for other files. */
  readonly salt: string
  addTo(dist: DaemonDist): Promise<void>
}

/**
 * The distribution that test files share, and with it its volume: to pack 120 MB of Node and to unpack it on the engine takes seconds for each
 * file. An existing directory is always complete.
 */
export async function sharedStandInDist(part?: DistPart): Promise<DaemonDist> {
  const salt = `${process.version}${part?.salt ?? ''}`
  const version = versionOf(salt)
  const dir = join(SHARED, version)
  if (await exists(dir)) return { dir, version }
  await mkdir(SHARED, { recursive: true })
  const building = await mkdtemp(join(SHARED, 'building-'))
  try {
    const made = await makeStandInDist(building, salt)
    await part?.addTo(made)
    await chmod(building, 0o755)
    await rename(building, dir)
  } catch (err) {
    // Another process was faster.
    if (!(await exists(dir))) throw err
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return { dir, version }
}

/**
 * A daemon distribution in `dir` with this Node, its loader and libraries and a program that runs commands: enough to inspect
 * a sandbox from inside without `docker exec`. `salt` makes a separate version.
 */
export async function makeStandInDist(dir: string, salt: string): Promise<DaemonDist> {
  const lib = join(dir, 'lib')
  await mkdir(lib, { recursive: true })
  await mkdir(join(dir, 'bin'))
  await placeNode(join(dir, 'bin/node'))
  for (const path of librariesOf(process.execPath)) await copyFile(path, join(lib, basename(path)))
  await writeFile(join(dir, 'daemon.mjs'), daemonSource)
  await writeFile(join(dir, 'dist.json'), JSON.stringify({ mount: '/opt/sandyard', command: STAND_IN_COMMAND, port: DAEMON_PORT }))
  return { dir, version: versionOf(salt) }
}

function versionOf(salt: string): string {
  return `test-${createHash('sha256').update(daemonSource).update(salt).digest('hex').slice(0, 12)}`
}

async function placeNode(destination: string): Promise<void> {
  const source = await realpath(process.execPath)
  await link(source, destination).catch(() => copyFile(source, destination, constants.COPYFILE_FICLONE))
}

function exists(dir: string): Promise<boolean> {
  return access(join(dir, 'dist.json')).then(
    () => true,
    () => false,
  )
}

/** The libraries that a program needs according to the loader, including the loader itself. */
function librariesOf(program: string): string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...text.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? '')
}
