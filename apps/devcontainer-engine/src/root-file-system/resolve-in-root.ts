import { lstat, mkdir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'

/** As many as the kernel follows. */
const MAX_LINKS = 40

/**
 * The path outside for a path in the root file system. Links on the way are read as a process in that root reads them, so none of them leads out of it.
 * The last part may be missing; with `makeParents` the folders before it may be, too.
 */
export async function resolveInRoot(
  root: string,
  path: string,
  { followLast = true, makeParents = false }: { followLast?: boolean; makeParents?: boolean } = {},
): Promise<string> {
  const pending = partsOf(path)
  let resolved: string[] = []
  let links = 0
  while (pending.length > 0) {
    const part = pending.shift() ?? ''
    if (part === '..') {
      resolved.pop()
      continue
    }
    const outside = join(root, ...resolved, part)
    const isLast = pending.length === 0
    const stats = await lstat(outside).catch(() => undefined)
    if (stats?.isSymbolicLink() === true && (!isLast || followLast)) {
      if (++links > MAX_LINKS) throw new AppError('invalid_argument', `Too many symbolic links: ${path}`)
      const target = await readlink(outside)
      if (target.startsWith('/')) resolved = []
      pending.unshift(...partsOf(target))
      continue
    }
    if (stats === undefined && !isLast && makeParents) await mkdir(outside, { mode: 0o755 })
    resolved.push(part)
  }
  return join(root, ...resolved)
}

/** Without empty parts and dots. `..` stays: what it means depends on the links before it. */
function partsOf(path: string): string[] {
  return path.split(posix.sep).filter((part) => part !== '' && part !== '.')
}
