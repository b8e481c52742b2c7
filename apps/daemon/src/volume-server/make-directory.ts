import { constants } from 'node:fs'
import { mkdir, open, stat } from 'node:fs/promises'
import { errnoCode } from '../sys/errno-text.ts'
import type { Owner } from '../users/ensure-dirs.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { parentDirectory } from '../users/path-parts.ts'
import { attempt } from './content-failure.ts'
import { readEntry } from './entry-stat.ts'
import { sendJson } from './send-json.ts'
import type { ContentCall } from './content-call.ts'

const ACTION = 'create directory'
const DEFAULT_MODE = 0o777

/** `POST /dir`: a new directory. With `force` also its parents, and one that exists stays unchanged. */
export async function makeDirectory({ response, query }: ContentCall): Promise<void> {
  const { path } = query
  const [owner, mode, force] = [query.owner(), query.mode(DEFAULT_MODE), query.force()]
  await attempt(ACTION, path, async () => {
    if (force) await makeParents(path, owner)
    try {
      await makeOne(path, owner, mode)
    } catch (error) {
      if (!force || errnoCode(error) !== 'EEXIST' || !(await isDirectory(path))) throw error
    }
  })
  sendJson(response, 201, await attempt('stat', path, () => readEntry(path)))
}

/** Creates the missing directories above a path, for the same owner with mode 0777. @throws the system error */
export async function makeParents(path: string, owner: Owner): Promise<void> {
  const missing: string[] = []
  for (let level = parentDirectory(path); !(await isDirectory(level)); level = parentDirectory(level)) missing.push(level)
  for (const level of missing.toReversed()) {
    try {
      await makeOne(level, owner, DEFAULT_MODE)
    } catch (error) {
      // Another call has made it meanwhile.
      if (errnoCode(error) !== 'EEXIST') throw error
    }
  }
}

/** Owner and mode are set by the descriptor: another process may have put a link in the place of the directory. */
async function makeOne(path: string, { uid, gid }: Owner, mode: number): Promise<void> {
  await mkdir(pathArgument(path), mode)
  await using directory = await open(pathArgument(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  await directory.chown(uid, gid)
  await directory.chmod(mode)
}

/** False for a missing one. @throws the system error ENOTDIR for a file, and others */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(pathArgument(path))).isDirectory()
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}
