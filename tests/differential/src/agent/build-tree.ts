import { execFile } from 'node:child_process'
import { chmod, lchown, link, lutimes, mkdir, open, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { promisify } from 'node:util'
import { setXattr } from '../../../../apps/daemon/src/sys/xattr.ts'
import { ROOTS } from './prepared-tree.ts'
import type { TreeEntry } from './tree-entry.ts'

const run = promisify(execFile)
/** In 2020, so that later writes have other times. */
const MTIME_SECONDS = 1_577_836_800.123

/** Makes the roots contain exactly these entries. */
export async function buildTree(entries: readonly TreeEntry[]): Promise<void> {
  for (const root of ROOTS) await emptyRoot(root)
  for (const entry of entries) await make(entry)
  // Creating children changes the times of their parents, so parents are finished last.
  for (const entry of entries.toReversed()) await finish(entry)
}

/** The root itself may be a mount point, which cannot be removed. */
async function emptyRoot(root: string): Promise<void> {
  await mkdir(root, { recursive: true })
  for (const name of await readdir(root, { encoding: 'buffer' })) {
    await rm(Buffer.concat([Buffer.from(`${root}/`), name]), { recursive: true, force: true })
  }
}

function raw(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

async function make(entry: TreeEntry): Promise<void> {
  const path = raw(entry.path)
  if (entry.kind === 'file') await writeFile(path, raw(entry.content ?? ''))
  else if (entry.kind === 'directory') await mkdir(path, { recursive: true })
  else if (entry.kind === 'link') await symlink(raw(entry.target ?? ''), path)
  else if (entry.kind === 'hardLink') await link(raw(entry.target ?? ''), path)
  else if (entry.kind === 'fifo') await run('mkfifo', [entry.path])
  else if (entry.kind === 'character') await run('mknod', [entry.path, 'c', '1', '3'])
  else if (entry.kind === 'block') await run('mknod', [entry.path, 'b', '7', '99'])
  else await makeSocket(entry.path)
}

/** Moves the socket before the server closes, because closing removes the socket. */
async function makeSocket(path: string): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(`${path}.new`, resolve))
  await rename(`${path}.new`, path)
  await new Promise((resolve) => server.close(resolve))
}

async function finish(entry: TreeEntry): Promise<void> {
  if (entry.kind === 'hardLink') return
  const path = raw(entry.path)
  for (const [name, value] of Object.entries(entry.attributes ?? {})) {
    await using file = await open(path, 'r')
    await setXattr(file.fd, name, raw(value))
  }
  await lchown(path, entry.uid ?? 0, entry.gid ?? 0)
  if (entry.kind !== 'link') await chmod(path, entry.mode ?? (entry.kind === 'directory' ? 0o755 : 0o644))
  const mtime = entry.mtimeSeconds ?? MTIME_SECONDS
  await lutimes(path, mtime, mtime)
}
