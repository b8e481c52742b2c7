import { decodeQuery } from '../files/file-query.ts'
import type { Owner } from '../users/ensure-dirs.ts'
import { cleanPath } from '../users/path-parts.ts'
import { ContentFailure, invalidRequest } from './content-failure.ts'

/** What new entries get (control-plane.md 15.4). */
const DEFAULT_ID = 9090
const MAX_UINT32 = 0xffff_ffff
/** The highest number means "no change" to the kernel. */
const MAX_ID = MAX_UINT32 - 1
const MAX_DEPTH = 10
/** The kernel's limit with the NUL (linux: PATH_MAX). */
const MAX_PATH_BYTES = 4095
export const PERMISSION_BITS = 0o777

/** The query of a request: an absolute path without `..`, and the parameters of control-plane.md 15.4. */
export class ContentQuery {
  readonly path: string
  readonly #pairs: readonly (readonly [string, string])[]

  /** @throws ContentFailure `INVALID_REQUEST` without a usable path */
  constructor(url: string) {
    this.#pairs = decodeQuery(url)
    this.path = toPath(this.#single('path'))
  }

  /** @throws ContentFailure `INVALID_REQUEST` */
  owner(): Owner {
    return { uid: this.#number('uid', MAX_ID) ?? DEFAULT_ID, gid: this.#number('gid', MAX_ID) ?? DEFAULT_ID }
  }

  /** Permission bits. @throws ContentFailure `INVALID_REQUEST` */
  mode(otherwise: number): number {
    return (this.#number('mode', MAX_UINT32) ?? otherwise) & PERMISSION_BITS
  }

  /** @throws ContentFailure `INVALID_REQUEST` */
  force(): boolean {
    const text = this.#single('force')
    if (text === undefined || ['false', '0', ''].includes(text)) return false
    if (text === 'true' || text === '1') return true
    throw invalidRequest('force must be true or false')
  }

  /** Levels of a listing; 0 counts as 1. @throws ContentFailure `INVALID_REQUEST`, `DEPTH_OUT_OF_RANGE` */
  depth(): number {
    const depth = this.#number('depth', MAX_UINT32) ?? 1
    if (depth > MAX_DEPTH) throw new ContentFailure(400, 'DEPTH_OUT_OF_RANGE', `depth must be between 1 and ${MAX_DEPTH}`)
    return Math.max(depth, 1)
  }

  #number(name: string, max: number): number | undefined {
    const text = this.#single(name)
    if (text === undefined) return undefined
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN
    return checkId(name, value, max)
  }

  #single(name: string): string | undefined {
    const values = this.#pairs.filter(([key]) => key === name)
    if (values.length > 1) throw invalidRequest(`${name} is there more than once`)
    return values[0]?.[1]
  }
}

/** Changes of `PATCH /path`; absent fields stay. */
export interface EntryChange {
  readonly uid?: number
  readonly gid?: number
  readonly mode?: number
}

/** Reads the JSON body of `PATCH /path`. @throws ContentFailure `INVALID_REQUEST` */
export function readChange(text: string): EntryChange {
  const body = parseObject(text)
  const field = (name: string, max: number): number | undefined => {
    const value = body[name]
    return value === undefined || value === null ? undefined : checkId(name, value, max)
  }
  const [uid, gid, mode] = [field('uid', MAX_ID), field('gid', MAX_ID), field('mode', MAX_UINT32)]
  return {
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    ...(mode === undefined ? {} : { mode: mode & PERMISSION_BITS }),
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidRequest('the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidRequest('the body must be a JSON object')
  return value as Record<string, unknown>
}

function checkId(name: string, value: unknown, max: number): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > max) {
    throw invalidRequest(`${name} must be a whole number between 0 and ${max}`)
  }
  return value
}

/** Adds a missing leading `/`; `..` above the root is the root. */
function toPath(text: string | undefined): string {
  if (text === undefined || text === '') throw invalidRequest('path is required')
  if (text.includes('\0')) throw invalidRequest('path must not contain NUL')
  const path = cleanPath(`/${text}`)
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw invalidRequest(`path is longer than ${MAX_PATH_BYTES} bytes`)
  return path
}
