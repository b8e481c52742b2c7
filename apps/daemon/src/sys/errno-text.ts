import { constants } from 'node:os'

/** strerror wording in lower case (envd.md, conventions); clients see these texts, and libuv words some of them differently. */
const TEXT: Readonly<Record<string, string>> = {
  E2BIG: 'argument list too long',
  EACCES: 'permission denied',
  EAGAIN: 'resource temporarily unavailable',
  EBADF: 'bad file descriptor',
  EBUSY: 'device or resource busy',
  ECHILD: 'no child processes',
  EDQUOT: 'disk quota exceeded',
  EEXIST: 'file exists',
  EFAULT: 'bad address',
  EFBIG: 'file too large',
  EINTR: 'interrupted system call',
  EINVAL: 'invalid argument',
  EIO: 'input/output error',
  EISDIR: 'is a directory',
  ELOOP: 'too many levels of symbolic links',
  EMFILE: 'too many open files',
  EMLINK: 'too many links',
  ENAMETOOLONG: 'file name too long',
  ENFILE: 'too many open files in system',
  ENODATA: 'no data available',
  ENODEV: 'no such device',
  ENOENT: 'no such file or directory',
  ENOEXEC: 'exec format error',
  ENOMEM: 'cannot allocate memory',
  ENOSPC: 'no space left on device',
  // The C library's text for this errno.
  ENOSYS: 'function not implemented',
  ENOTCONN: 'transport endpoint is not connected',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  ENOTSUP: 'operation not supported',
  ENXIO: 'no such device or address',
  EPERM: 'operation not permitted',
  EPIPE: 'broken pipe',
  ERANGE: 'numerical result out of range',
  EROFS: 'read-only file system',
  ESPIPE: 'illegal seek',
  ESRCH: 'no such process',
  ESTALE: 'stale file handle',
  ETIMEDOUT: 'connection timed out',
  ETXTBSY: 'text file busy',
  EXDEV: 'invalid cross-device link',
}

/** Names by number. Node names a few numbers that libuv does not know (EDQUOT) only as "Unknown system error". */
const NAME = new Map(
  Object.entries(constants.errno)
    .filter(([name]) => name !== 'EWOULDBLOCK' && name !== 'EOPNOTSUPP')
    .map(([name, number]) => [number, name]),
)

/** An error like those of `node:fs`, for a system call that Node does not make itself. `errno` is positive, as in C. */
export function systemError(syscall: string, errno: number): NodeJS.ErrnoException {
  const code = NAME.get(errno) ?? `errno ${errno}`
  return Object.assign(new Error(`${code}: ${TEXT[code] ?? 'system error'}, ${syscall}`), { code, errno: -errno, syscall })
}

/** The error's symbolic code, such as `ENOENT`; empty if it is not a system error. */
export function errnoCode(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return ''
  if (!error.code.startsWith('Unknown system error')) return error.code
  return ('errno' in error && typeof error.errno === 'number' ? NAME.get(-error.errno) : undefined) ?? error.code
}

/** The lower-case Linux text of a system error; the message of any other error. */
export function errnoText(error: unknown): string {
  return TEXT[errnoCode(error)] ?? (error instanceof Error ? error.message : String(error))
}

/** `{operation} {path}: {errno text}`, and for two paths `{operation} {old} {new}: {errno text}`. */
export function failedCall(operation: string, paths: string | readonly [string, string], error: unknown): string {
  return `${operation} ${typeof paths === 'string' ? paths : paths.join(' ')}: ${errnoText(error)}`
}
