import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../../text/shorten.ts'

/** Stands for the requested port. */
const PORT = '${PORT}'
/** The longest name of DNS, with a port. */
const MAX_LENGTH = 262
/** A name, an IPv4 address or an IPv6 address in brackets. It becomes a header, so it has no separators of URLs. */
const HOST_AND_PORT = /^(?<host>[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::(?<port>\d{1,5}))?$/

/**
 * Checks `host[:port]`, in which `${PORT}` may stand for the requested port.
 *
 * @throws AppError `invalid_argument` with the texts of control-plane.md 18.3
 */
export function checkMaskRequestHost(value: string): void {
  const sample = value.replaceAll(PORT, '80')
  const ascii = sample.replaceAll(/[^\p{ASCII}]+/gu, 'a')
  const parts = HOST_AND_PORT.exec(ascii)?.groups
  if (parts === undefined || sample.length > MAX_LENGTH || !sample.isWellFormed() || Number(parts['port'] ?? 0) > 65_535) {
    throw new AppError('invalid_argument', `mask request host is not valid: ${shorten(value)}`)
  }
  if (ascii !== sample) {
    const host = value.replace(/:(?:\d+|\$\{PORT\})$/, '')
    throw new AppError('invalid_argument', `mask request host '${host}' is not ASCII. Please use ASCII characters only.`)
  }
}
