import { decodePath } from '../users/path-bytes.ts'
import { quoted } from './quoted.ts'

/** The query parameters of `/files`, decoded (`users/path-bytes.ts`); absent ones are undefined. */
export interface FileQuery {
  readonly path: string | undefined
  readonly username: string | undefined
  readonly signature: string | undefined
  /** Unix seconds. */
  readonly expiration: bigint | undefined
}

const BEYOND_ASCII = /[^\0-\x7f]/

/** A malformed query, answered before all checks. The only plain-text answer of these routes (envd.md 2.2). */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery'
}

/**
 * Reads the query of a request's URL.
 *
 * @throws InvalidQuery for a known parameter that is repeated, and for an expiration that is no 64-bit integer
 */
export function parseFileQuery(url: string): FileQuery {
  const pairs = decodeQuery(url)
  function single(name: string): string | undefined {
    const values = pairs.filter(([key]) => key === name)
    if (values.length > 1) throw invalid(name, `multiple values for single value parameter '${name}'`)
    return values[0]?.[1]
  }
  const [path, username, signature] = [single('path'), single('username'), single('signature')]
  return { path, username, signature, expiration: toInt64('signature_expiration', single('signature_expiration')) }
}

/** The decoded pairs of a query. Those that are malformed (a stray `%`, a `;`) are dropped, as they are upstream: a signature over them cannot match. */
export function decodeQuery(url: string): [string, string][] {
  const start = url.indexOf('?')
  if (start < 0) return []
  return url
    .slice(start + 1)
    .split('&')
    .flatMap((pair): [string, string][] => {
      const [key = '', ...value] = pair.split('=')
      if (pair === '' || /;|%(?![0-9a-f]{2})/i.test(pair)) return []
      return [[decode(key), decode(value.join('='))]]
    })
}

/** Percent decoding that accepts all bytes. In Node's `url` each byte is one character. */
function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (BEYOND_ASCII.test(spaced)) return decodeBytes(spaced)
  try {
    return decodeURIComponent(spaced)
  } catch {
    return decodeBytes(spaced)
  }
}

function decodeBytes(text: string): string {
  const bytes = text.replaceAll(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodePath(Buffer.from(bytes, 'latin1'))
}

function toInt64(name: string, text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined
  const failure = `error binding string parameter: strconv.ParseInt: parsing ${quoted(text)}`
  if (!/^[+-]?\d+$/.test(text)) throw invalid(name, `${failure}: invalid syntax`)
  const value = BigInt(text.replace('+', ''))
  if (BigInt.asIntN(64, value) !== value) throw invalid(name, `${failure}: value out of range`)
  return value
}

function invalid(name: string, reason: string): InvalidQuery {
  return new InvalidQuery(`Invalid format for parameter ${name}: ${reason}`)
}
