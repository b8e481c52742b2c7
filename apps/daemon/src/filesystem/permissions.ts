import { constants } from 'node:fs'

const KIND_LETTERS: Readonly<Record<number, string>> = {
  [constants.S_IFDIR]: 'd',
  [constants.S_IFLNK]: 'L',
  [constants.S_IFBLK]: 'D',
  [constants.S_IFCHR]: 'D',
  [constants.S_IFIFO]: 'p',
  [constants.S_IFSOCK]: 'S',
}
const TRIPLETS = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx']
const SETUID = 0o4000
const SETGID = 0o2000
const STICKY = 0o1000

/**
 * The mode of lstat in Go's notation: letters for kind and flags first, or `-` without any, then nine positions that flags do not change
 * (envd.md 7.2). `ls` uses another one.
 */
export function permissionsText(mode: number): string {
  const kind = mode & constants.S_IFMT
  const letters =
    (KIND_LETTERS[kind] ?? '') +
    (mode & SETUID ? 'u' : '') +
    (mode & SETGID ? 'g' : '') +
    (kind === constants.S_IFCHR ? 'c' : '') +
    (mode & STICKY ? 't' : '')
  const [owner, group, others] = [TRIPLETS[(mode >> 6) & 7], TRIPLETS[(mode >> 3) & 7], TRIPLETS[mode & 7]]
  return `${letters || '-'}${owner}${group}${others}`
}
