import { getSystemErrorMessage } from 'node:util'

/** strerror wording in lower case (envd.md, conventions); clients see these texts, and libuv words some of them differently. */
const TEXT: Readonly<Record<string, string>> = {
  E2BIG: 'argument list too long',
  EACCES: 'permission denied',
  EAGAIN: 'resource temporarily unavailable',
  EBADF: 'bad file descriptor',
  EBUSY: 'device or resource busy',
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
  ENOMEM: 'cannot allocate memory',
  ENOSPC: 'no space left on device',
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
  ETXTBSY: 'text file busy',
  EXDEV: 'invalid cross-device link',
}

/** The error's code, such as `ENOENT`; empty for what is not a system error. */
export function errnoCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** The lower-case Linux text of a system error; the message of any other error. */
export function errnoText(error: unknown): string {
  const known = TEXT[errnoCode(error)]
  if (known !== undefined) return known
  if (error instanceof Error && 'errno' in error && typeof error.errno === 'number') return getSystemErrorMessage(error.errno)
  return error instanceof Error ? error.message : String(error)
}

/** `{operation} {path}: {errno text}`, and for two paths `{operation} {old} {new}: {errno text}`. */
export function failedCall(operation: string, paths: string | readonly [string, string], error: unknown): string {
  return `${operation} ${typeof paths === 'string' ? paths : paths.join(' ')}: ${errnoText(error)}`
}
