import { posix } from 'node:path'

/** Removes `.`, `..`, repeated and trailing slashes from a path. Works on the text only and ignores symbolic links. */
export function cleanPath(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

/** The part before the last slash, cleaned. Unlike with `dirname`, the result for `/a/b/` is `/a/b`. */
export function parentDirectory(path: string): string {
  const end = path.lastIndexOf('/')
  return end < 0 ? '.' : cleanPath(path.slice(0, end + 1))
}

/** The last component, without trailing slashes; `/` for the root. */
export function baseName(path: string): string {
  return posix.basename(path) || '/'
}
