import { posix } from 'node:path'

/** The lexically shortest form of a path: no `.`, `..`, doubled or trailing slash. Symbolic links are not looked at. */
export function cleanPath(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

/** The cleaned part before the last slash: the parent of `/a/b/` is `/a/b`, unlike `dirname`. */
export function parentDirectory(path: string): string {
  const end = path.lastIndexOf('/')
  return end < 0 ? '.' : cleanPath(path.slice(0, end + 1))
}

/** The last component as given, trailing slashes aside; `/` for the root. */
export function baseName(path: string): string {
  return posix.basename(path) || '/'
}
