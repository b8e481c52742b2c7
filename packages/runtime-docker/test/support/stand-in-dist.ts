import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { DaemonDist } from '../../src/daemon-volume/daemon-dist.ts'
import { daemonSource } from './stand-in-daemon.ts'

export const DAEMON_PORT = 49_983

export const STAND_IN_COMMAND =
  '/opt/sandyard/lib/ld-linux-x86-64.so.2 --library-path /opt/sandyard/lib /opt/sandyard/bin/node /opt/sandyard/daemon.mjs'.split(' ')

/**
 * A daemon distribution in `dir` with this Node, its loader and libraries and a program that runs commands: enough to inspect
 * a sandbox from inside without `docker exec`. `salt` makes a separate version.
 */
export async function makeStandInDist(dir: string, salt: string): Promise<DaemonDist> {
  const lib = join(dir, 'lib')
  await mkdir(lib, { recursive: true })
  await mkdir(join(dir, 'bin'))
  await copyFile(process.execPath, join(dir, 'bin/node'))
  await chmod(join(dir, 'bin/node'), 0o755)
  for (const path of librariesOf(process.execPath)) await copyFile(path, join(lib, basename(path)))
  await writeFile(join(dir, 'daemon.mjs'), daemonSource)
  await writeFile(join(dir, 'dist.json'), JSON.stringify({ mount: '/opt/sandyard', command: STAND_IN_COMMAND, port: DAEMON_PORT }))
  return { dir, version: `test-${createHash('sha256').update(daemonSource).update(salt).digest('hex').slice(0, 12)}` }
}

/** The libraries that a program needs according to the loader, including the loader itself. */
function librariesOf(program: string): string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' })
  return [...text.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? '')
}
