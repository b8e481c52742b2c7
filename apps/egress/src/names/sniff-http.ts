/** Longer than every method. */
const MAX_METHOD = 24
/** A token and a space (RFC 9110 5.6.2), or the beginning of them. */
const REQUEST = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+( |$)/

/** Whether a connection begins like an HTTP/1 request; undefined when more bytes are needed. */
export function sniffHttp(bytes: Buffer): boolean | undefined {
  if (bytes.length === 0) return undefined
  const begin = bytes.subarray(0, MAX_METHOD).toString('latin1')
  // HTTP ignores empty lines before a request (RFC 9112 2.2).
  const text = begin.replace(/^[\r\n]+/, '')
  if (text === '') return begin.length < MAX_METHOD ? undefined : false
  const match = REQUEST.exec(text)
  if (match === null || text.startsWith('PRI ')) return false
  if (match[1] === ' ') return true
  return begin.length < MAX_METHOD ? undefined : false
}
