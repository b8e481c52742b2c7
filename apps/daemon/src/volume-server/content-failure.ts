import { errnoCode, errnoText } from '../sys/errno-text.ts'
import { toText } from '../users/path-bytes.ts'

/** The string codes of control-plane.md 15.4; those after `CANNOT_DELETE_ROOT` are our own. */
export type ContentCode =
  | 'PATH_NOT_FOUND'
  | 'PATH_ALREADY_EXISTS'
  | 'INVALID_REQUEST'
  | 'DEPTH_OUT_OF_RANGE'
  | 'CANNOT_DELETE_ROOT'
  | 'UNAUTHENTICATED'
  | 'METHOD_NOT_ALLOWED'
  | 'RANGE_NOT_SATISFIABLE'
  | 'INSUFFICIENT_STORAGE'
  | 'INTERNAL'

/** An answer other than success: its status and its JSON body. */
export class ContentFailure extends Error {
  override readonly name = 'ContentFailure'
  readonly status: number
  readonly code: ContentCode

  constructor(status: number, code: ContentCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.code = code
  }
}

export function invalidRequest(message: string): ContentFailure {
  return new ContentFailure(400, 'INVALID_REQUEST', message)
}

/** Codes of system calls that fail because of the path or of the file at it: the client can send another request. */
const REFUSED = new Set('EACCES EBUSY EINVAL EISDIR ELOOP EMLINK ENAMETOOLONG ENOTEMPTY ENOTSUP ENXIO EPERM EROFS ETXTBSY'.split(' '))
const FULL = new Set(['ENOSPC', 'EDQUOT'])

/** What a failed system call is for the client: `failed to <action>: ...` (control-plane.md 15.4). Other failures stay as they are. */
export function toFailure(error: unknown, action: string, path: string): unknown {
  const code = errnoCode(error)
  if (error instanceof ContentFailure || code === '') return error
  const text = `failed to ${action}: "${toText(path)}"`
  const options = { cause: error }
  if (code === 'ENOENT') return new ContentFailure(404, 'PATH_NOT_FOUND', `${text} not found.`, options)
  if (code === 'EEXIST') return new ContentFailure(409, 'PATH_ALREADY_EXISTS', `${text} already exists.`, options)
  if (code === 'ENOTDIR') {
    return new ContentFailure(400, 'INVALID_REQUEST', `${text}: a component of the path is a file, but must be a directory`, options)
  }
  if (FULL.has(code)) return new ContentFailure(507, 'INSUFFICIENT_STORAGE', `${text}: ${errnoText(error)}`, options)
  if (REFUSED.has(code)) return new ContentFailure(400, 'INVALID_REQUEST', `${text}: ${errnoText(error)}`, options)
  return error
}

/** Runs system calls for a path. @throws ContentFailure for what the client can change, and for a full disk */
export async function attempt<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFailure(error, action, path)
  }
}
