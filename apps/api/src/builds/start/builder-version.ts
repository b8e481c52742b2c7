import type { BuilderVersion } from '@sandyard/db/schema/build'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../../text/shorten.ts'

const SDK = /^e2b-(?:js|python)-sdk\/(\S*)/

/** `2.3.0`, with the suffixes of npm and PyPI: `-rc.1`, `+build`, `rc1`, `.dev0`, `.post1`. */
const VERSION = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(-[0-9A-Za-z.-]+|(?:a|b|rc|\.dev)\d+)?(?:\.post\d+)?(?:\+[0-9A-Za-z.-]+)?$/

/** The first release whose builds begin with the default user. */
const DEFAULT_USER_SINCE = [2, 3, 0] as const

/**
 * The rules for the steps of a client: the old ones for SDKs before 2.3.0, the current ones for all others (control-plane.md 10.5).
 *
 * @throws AppError `invalid_argument` for an SDK version that cannot be parsed
 */
export function builderVersionOf(userAgent: string | undefined): BuilderVersion {
  const version = SDK.exec(userAgent ?? '')?.[1]
  if (version === undefined) return 'v2.1.0'
  const match = VERSION.exec(version)
  if (match === null) throw new AppError('invalid_argument', `Error when parsing user agent: invalid version '${shorten(version)}'`)
  const [, major, minor, patch = '0', preRelease] = match
  const parts = [Number(major), Number(minor), Number(patch)]
  const at = parts.findIndex((part, index) => part !== DEFAULT_USER_SINCE[index])
  const isOlder = at === -1 ? preRelease !== undefined : (parts[at] ?? 0) < (DEFAULT_USER_SINCE[at] ?? 0)
  return isOlder ? 'v2.0.0' : 'v2.1.0'
}
