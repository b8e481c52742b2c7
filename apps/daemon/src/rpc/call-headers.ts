import type { IncomingMessage } from 'node:http'
import { AppError } from '@sandyard/kit/errors/app-error'
import { firstHeader } from '../http/first-header.ts'
import { GZIP } from './compression.ts'
import type { CallKind } from './media-type.ts'

/** What the headers of a call say (envd.md 6.5). */
export interface CallHeaders {
  /** Whether what is marked as compressed, or a unary request as a whole, is. */
  readonly sendsGzip: boolean
  readonly acceptsGzip: boolean
  /** The time that the call may take; undefined is no limit, and 0 no time at all (envd.md 6.6). */
  readonly timeoutMs: number | undefined
  /** How long a stream may be silent (envd.md 6.7). */
  readonly keepaliveMs: number
}

/** The longest wait of a Node timer, 24 days and longer than any sandbox lives. A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
const DEFAULT_KEEPALIVE_SECONDS = 90

const ENCODING_HEADERS = {
  unary: { sent: 'content-encoding', accepted: 'accept-encoding' },
  stream: { sent: 'connect-content-encoding', accepted: 'connect-accept-encoding' },
} as const satisfies Record<CallKind, object>

/**
 * Reads them in the order in which upstream complains. Of a repeated header the first counts.
 *
 * @throws AppError for an encoding that is not known, a wrong version of the protocol, and a bad timeout
 */
export function readCallHeaders(request: IncomingMessage, kind: CallKind, versionIsRequired: boolean): CallHeaders {
  const { sent, accepted } = ENCODING_HEADERS[kind]
  const sendsGzip = isGzip(firstHeader(request, sent))
  checkVersion(firstHeader(request, 'connect-protocol-version'), versionIsRequired)
  return {
    sendsGzip,
    acceptsGzip: firstHeader(request, accepted).split(/[, ]/).includes(GZIP),
    timeoutMs: readTimeout(firstHeader(request, 'connect-timeout-ms')),
    keepaliveMs: readKeepalive(firstHeader(request, 'keepalive-ping-interval')),
  }
}

function isGzip(encoding: string): boolean {
  if (encoding === '' || encoding === 'identity') return false
  if (encoding === GZIP) return true
  throw new AppError('unimplemented', `unknown compression ${JSON.stringify(encoding)}: supported encodings are ${GZIP}`)
}

function checkVersion(version: string, isRequired: boolean): void {
  if (version === '1' || (version === '' && !isRequired)) return
  throw new AppError(
    'invalid_argument',
    version === ''
      ? 'missing required header: set Connect-Protocol-Version to "1"'
      : `Connect-Protocol-Version must be "1": got ${JSON.stringify(version)}`,
  )
}

function readTimeout(timeout: string): number | undefined {
  if (timeout === '') return undefined
  if (timeout.length > 10) throw new AppError('invalid_argument', `parse timeout: ${JSON.stringify(timeout)} has >10 digits`)
  if (!/^\d+$/.test(timeout)) {
    throw new AppError('invalid_argument', `parse timeout: strconv.ParseInt: parsing ${JSON.stringify(timeout)}: invalid syntax`)
  }
  return Math.min(Number(timeout), LONGEST_TIMER_MS)
}

/** Whole seconds; what is no positive number of them means the default. */
function readKeepalive(interval: string): number {
  const seconds = (/^\d+$/.test(interval) ? Number(interval) : 0) || DEFAULT_KEEPALIVE_SECONDS
  return Math.min(seconds * 1000, LONGEST_TIMER_MS)
}
