import { lstat, readlink, realpath } from 'node:fs/promises'
import { failedCall, systemError } from '../sys/errno-text.ts'
import { cleanPath } from '../users/path-parts.ts'
import { type BytePath, childPath, toArgument, toText } from './byte-path.ts'

/** The kernel and the C library give up at 40 links; clients are promised 255 (envd.md 7.4). */
const MAX_LINKS = 255

/** Why a path has no final target. `message` names the component that failed, `code` is the system's. */
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
 * @throws UnresolvedPath where a component is missing, is below a file, or a chain of links is cyclic or too long
 */
export async function evalSymlinks(path: BytePath): Promise<BytePath> {
  try {
    return (await realpath(toArgument(path), { encoding: 'latin1' })) as BytePath
  } catch {
    return walk(path)
  }
}

/** Component by component, which costs more calls and knows which component fails. */
async function walk(path: BytePath): Promise<BytePath> {
  let links = 0
  let reached = '/' as BytePath
  const pending = path.split('/')
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (name === '' || name === '.') continue
    const next = (name === '..' ? cleanPath(`${reached}/..`) : childPath(reached, name)) as BytePath
    const target = await linkTarget(next, pending.length > 0)
    if (target === undefined) {
      reached = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) throw new UnresolvedPath('ELOOP', 'EvalSymlinks: too many links')
    pending.unshift(...target.split('/'))
    if (target.startsWith('/')) reached = '/' as BytePath
  }
  return reached
}

/** Where the link points to; undefined for what is no link, which must be a directory if more of the path follows. */
async function linkTarget(path: BytePath, moreFollows: boolean): Promise<BytePath | undefined> {
  const argument = toArgument(path)
  try {
    const stats = await lstat(argument)
    if (stats.isSymbolicLink()) return (await readlink(argument, { encoding: 'latin1' })) as BytePath
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
