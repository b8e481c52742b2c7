import { createHash } from 'node:crypto'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { getXattr, listXattrs } from '../../../../apps/daemon/src/sys/xattr.ts'
import { ROOTS } from './prepared-tree.ts'

/** The compared properties of each entry in one line, without times. */
export type Snapshot = Readonly<Record<string, string>>

/** All entries below the roots, by path (one character per byte). */
export async function snapshotTree(): Promise<Snapshot> {
  const snapshot: Record<string, string> = {}
  for (const root of ROOTS) await describe(root, snapshot)
  return snapshot
}

async function describe(path: string, snapshot: Record<string, string>): Promise<void> {
  const bytes = Buffer.from(path, 'latin1')
  const stats = await lstat(bytes).catch(() => undefined)
  if (stats === undefined) {
    snapshot[path] = 'missing'
    return
  }
  const parts = [stats.mode.toString(8), `${stats.uid}:${stats.gid}`]
  if (stats.isSymbolicLink()) parts.push(`-> ${await readlink(bytes, 'latin1')}`)
  if (stats.isFile()) {
    parts.push(
      `${stats.size}`,
      createHash('sha256')
        .update(await readFile(bytes))
        .digest('hex')
        .slice(0, 16),
      ...(await attributes(bytes)),
    )
  }
  snapshot[normalName(path)] = parts.join(' ')
  if (!stats.isDirectory()) return
  for (const name of (await readdir(bytes, 'latin1')).sort()) await describe(`${path}/${name}`, snapshot)
}

/** A temporary file of a compose has a random name. */
function normalName(path: string): string {
  return path.replace(/\.e2b-compose\.[^/]*\.tmp$/, '.e2b-compose.<id>.tmp')
}

async function attributes(path: Buffer): Promise<string[]> {
  const names = await listXattrs(path)
  return Promise.all(names.sort().map(async (name) => `${name}=${(await getXattr(path, name)).toString('latin1')}`))
}
