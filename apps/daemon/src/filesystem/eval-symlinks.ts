import { lstat, readlink, realpath } from 'node:fs/promises'
import { failedCall, systemError } from '../sys/errno-text.ts'
import { cleanPath } from '../users/path-parts.ts'
import { childPath, decodeLatin1, pathArgument, toText } from '../users/path-bytes.ts'

/** The kernel and the C library stop at 40 links; the contract has 255 (envd.md 7.4). */
const MAX_LINKS = 255

/** Why a path has no final target. `message` names the component that failed, `code` is that of the system error. */
export class UnresolvedPath extends Error {
  override readonly name = 'UnresolvedPath'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * The absolute path behind an absolute path, every link on the way resolved.
 *
 * @throws UnresolvedPath if a component is missing or below a file, or a chain of links is cyclic or too long
 */
export async function evalSymlinks(path: string): Promise<string> {
  try {
    return decodeLatin1(await realpath(pathArgument(path), { encoding: 'latin1' }))
  } catch {
    return walk(path)
  }
}

/** Resolves each component by itself: more calls, but it shows which component fails. */
async function walk(path: string): Promise<string> {
  let links = 0
  let reached = '/'
  const pending = path.split('/')
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (name === '' || name === '.') continue
    const next = name === '..' ? cleanPath(`${reached}/..`) : childPath(reached, name)
    const target = await linkTarget(next, pending.length > 0)
    if (target === undefined) {
      reached = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new UnresolvedPath('ELOOP', 'EvalSymlinks: too many links')
    pending.unshift(...target.split('/'))
    if (target.startsWith('/')) reached = '/'
  }
  return reached
}

/** The target of a link; undefined for other entries. If more of the path follows, they must be directories. */
async function linkTarget(path: string, moreFollows: boolean): Promise<string | undefined> {
  const argument = pathArgument(path)
  try {
    const stats = await lstat(argument)
    if (stats.isSymbolicLink()) return decodeLatin1(await readlink(argument, { encoding: 'latin1' }))
    if (stats.isDirectory() || !moreFollows) return undefined
  } catch (error) {
    throw unresolved(error, failedCall('lstat', toText(path), error))
  }
  throw unresolved(systemError('lstat', ENOTDIR), 'not a directory')
}

const ENOTDIR = 20

function unresolved(cause: unknown, message: string): UnresolvedPath {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return new UnresolvedPath(code, message, { cause })
}
