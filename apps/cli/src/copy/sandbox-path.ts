import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

/** One end of a copy: a path on this machine, or `id:path` in a sandbox. */
export type Place = { readonly path: string } | { readonly sandboxID: string; readonly path: string }

const IN_SANDBOX = /^(i[a-z0-9]{20}):(.*)$/s

/** A path is in a sandbox when it begins with the id of one and a colon. */
export function readPlace(text: string): Place {
  const [, sandboxID, path] = IN_SANDBOX.exec(text) ?? []
  if (sandboxID === undefined || path === undefined) return { path: text }
  // The daemon resolves relative paths from the home directory.
  return { sandboxID, path: path === '' ? '.' : path }
}

/**
 * The last name of an absolute path, for a file or directory of this machine; `whenRoot` for `/`.
 *
 * @throws CliFailure for a name that could lead elsewhere: the daemon runs in an untrusted sandbox
 */
export function lastName(path: string, whenRoot: string): string {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  if (name === '') return whenRoot
  if (isSafeName(name)) return name
  throw new CliFailure(EXIT.failed, 'The sandbox gave the file no usable name: nothing was copied.')
}

/**
 * The part of `path` below `root`, both absolute, as names.
 *
 * @throws CliFailure for anything that could lead out of it: the daemon runs in an untrusted sandbox
 */
export function namesBelow(root: string, path: string): string[] {
  const prefix = root.endsWith('/') ? root : `${root}/`
  const names = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : []
  if (names.length === 0 || !names.every(isSafeName))
    throw new CliFailure(EXIT.failed, `The sandbox listed a path outside of ${root}: nothing more was copied.`)
  return names
}

function isSafeName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
}
