import { randomUUID } from 'node:crypto'
import { readdir, rename } from 'node:fs/promises'
import { stderr } from 'node:process'
import { removeTree } from '../filesystem/remove-tree.ts'
import { errnoCode } from '../sys/errno-text.ts'
import { pathArgument } from '../users/path-bytes.ts'

/** Below the root: its path cannot change, so nothing is left elsewhere, and the next start finds what a killed service left. */
const PREFIX = '.sandyard-temporary-'
const NAME = /^\.sandyard-temporary-[0-9a-f-]{36}$/

/** A path on the volume that nothing has. */
export function temporaryPath(): string {
  return `/${PREFIX}${randomUUID()}`
}

/** `removeTree` for any depth without /proc, which is not below this root. @throws RemovalFailure; a system error */
export function removeDeepTree(path: string): Promise<void> {
  return removeTree(path, emptyElsewhere)
}

/** Starts to remove what a killed service left on its volume. What cannot be removed stays for the next start. */
export async function removeTemporaries(): Promise<void> {
  const names = (await readdir('/', 'latin1')).filter((name) => NAME.test(name))
  void Promise.allSettled(names.map((name) => removeDeepTree(`/${name}`))).then((outcomes) => {
    for (const outcome of outcomes) if (outcome.status === 'rejected') stderr.write(`not removed: ${String(outcome.reason)}\n`)
  })
}

/** A tree may be deeper than the longest path: the subtree gets a short one. */
async function emptyElsewhere(path: string): Promise<void> {
  const shortPath = temporaryPath()
  try {
    await rename(pathArgument(path), shortPath)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return
    throw error
  }
  await removeDeepTree(shortPath)
}
