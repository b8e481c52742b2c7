import { posix } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { cleanPath } from './path-parts.ts'

export interface PathContext {
  readonly user: { readonly name: string; readonly home: string }
  /** Replaces an empty path; not a base for relative ones. May itself be relative or begin with `~`. */
  readonly defaultWorkdir: string | undefined
}

/**
 * Makes the path of a request absolute (envd.md 4.1). Returns absolute paths unchanged and uncleaned. Relative paths start at the user's
 * home, and their `..` are resolved lexically. Links are not followed.
 *
 * @throws AppError `invalid_argument` for `~name` and for a path that no file can have
 */
export function resolvePath(path: string, context: PathContext): string {
  const { user, defaultWorkdir } = context
  const chosen = path === '' ? (defaultWorkdir ?? '') : path
  if (chosen.includes('\0')) throw new AppError('invalid_argument', `path ${JSON.stringify(chosen)} contains a NUL byte`)
  if (chosen.startsWith('~')) return expandHome(chosen, user)
  return chosen.startsWith('/') ? chosen : cleanPath(posix.resolve('/', user.home, chosen))
}

function expandHome(path: string, user: PathContext['user']): string {
  const rest = path.slice(1)
  if (rest !== '' && !rest.startsWith('/') && !rest.startsWith('\\')) {
    throw new AppError('invalid_argument', `failed to expand path '${path}' for user '${user.name}': cannot expand user-specific home dir`)
  }
  return cleanPath(posix.resolve('/', user.home, `./${rest}`))
}
