import { createHash, timingSafeEqual } from 'node:crypto'

/** A URL of `/files` that the holder of a sandbox's token has signed, as `uploadUrl()` and `downloadUrl()` make them (envd.md 3.3). */
export interface SignedUrl {
  /** As sent; the same text always belongs to the same sandbox. */
  readonly signature: string
  /** The signed text before and after the token. */
  readonly beforeToken: Buffer
  readonly behindToken: string
}

/** Unpadded base64 of 32 bytes. */
const SIGNATURE = /^v1_([A-Za-z0-9+/]{43})$/
const INTEGER = /^[+-]?\d{1,20}$/

/**
 * Reads the signed parts of a query. Undefined without a signature. Parameters are decoded as by the daemon, which checks the whole
 * query again: here only the first of repeated ones is used, and an expiration that is not an integer never matches.
 */
export function parseSignedUrl(operation: 'read' | 'write', search: string): SignedUrl | undefined {
  const query = decodeQuery(search)
  const signature = query.get('signature')
  if (signature === undefined) return undefined
  const expiration = query.get('signature_expiration')
  return {
    signature,
    beforeToken: Buffer.from(`${query.get('path') ?? ''}:${operation}:${query.get('username') ?? ''}:`, 'latin1'),
    behindToken: expiration === undefined ? '' : `:${toDecimal(expiration)}`,
  }
}

/** Parameters as bytes, one character each, as in Node's `url`: a path need not be UTF-8. Malformed pairs are ignored. */
function decodeQuery(search: string): Map<string, string> {
  const pairs = search.split('&').flatMap((pair): [string, string][] => {
    if (/;|%(?![0-9a-f]{2})/i.test(pair)) return []
    const [name = '', ...value] = pair.split('=')
    return [[decode(name), decode(value.join('='))]]
  })
  return new Map(pairs.toReversed())
}

function decode(text: string): string {
  return text.replaceAll('+', ' ').replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/**
 * Tests whether a URL was signed with a token, in constant time for every signature. Undefined when no token
 * can match. A long path is hashed once, not for each token.
 */
export function signatureTest({ signature, beforeToken, behindToken }: SignedUrl): ((token: string) => boolean) | undefined {
  const encoded = SIGNATURE.exec(signature)?.[1]
  if (encoded === undefined) return undefined
  const presented = Buffer.from(encoded, 'base64')
  const begun = createHash('sha256').update(beforeToken)
  return (token) =>
    timingSafeEqual(
      begun
        .copy()
        .update(token + behindToken)
        .digest(),
      presented,
    )
}

function toDecimal(text: string): string {
  return INTEGER.test(text) ? String(BigInt(text.replace('+', ''))) : text
}
