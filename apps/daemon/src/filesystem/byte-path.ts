/**
 * A path as the kernel knows it: bytes, of which each is one character here (latin1). Names on disk need not be UTF-8, and a name
 * that was decoded and encoded again might name another file or none. Sorting byte paths as strings is byte order.
 */
export type BytePath = string & { readonly bytePath: true }

const BEYOND_ASCII = /[^\0-\x7f]/

export function toBytePath(path: string): BytePath {
  return (BEYOND_ASCII.test(path) ? Buffer.from(path).toString('latin1') : path) as BytePath
}

/** The path as text for a message. Bytes that are not UTF-8 become U+FFFD, since messages can hold nothing else. */
export function toText(path: BytePath): string {
  return BEYOND_ASCII.test(path) ? Buffer.from(path, 'latin1').toString() : path
}

/** The path as a call of `node:fs` takes it. */
export function toArgument(path: BytePath): string | Buffer {
  return BEYOND_ASCII.test(path) ? Buffer.from(path, 'latin1') : path
}

/** Appends a name, as it came from a directory, to the directory's path, which stays as it is. */
export function childPath(directory: BytePath, name: string): BytePath {
  return (directory.endsWith('/') ? directory + name : `${directory}/${name}`) as BytePath
}
