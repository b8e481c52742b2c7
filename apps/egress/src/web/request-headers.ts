import type { IncomingHttpHeaders } from 'node:http'
import type { RuleHeader } from '../policy/compile-policy.ts'

/** Headers of one connection (RFC 9110 7.6.1), and those that frame a message. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'content-length',
  'upgrade',
])
/** A rule cannot set these: they would change where a request goes or where it ends. */
const NOT_BY_RULE = new Set([...HOP_BY_HOP, 'host', 'expect'])

/**
 * The headers of a message for the next connection: names and values in turns, without those that belong to one connection. `Host` is never
 * one of them, also when `Connection` names it: the request was allowed by it.
 */
export function endToEnd(rawHeaders: readonly string[], { connection = '' }: Pick<IncomingHttpHeaders, 'connection'>): string[] {
  const named = new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
  return keepHeaders(rawHeaders, (name) => name === 'host' || (!HOP_BY_HOP.has(name) && !named.has(name)))
}

/** Replaces every header that a rule sets, so that the sandbox cannot send a second one. */
export function withRule(headers: readonly string[], rule: readonly RuleHeader[] = []): string[] {
  const set = rule.filter(({ name }) => !NOT_BY_RULE.has(name.toLowerCase()))
  const names = new Set(set.map(({ name }) => name.toLowerCase()))
  const added = set.flatMap(({ name, value }) => [name, toWire(value.reveal())])
  return [...keepHeaders(headers, (name) => !names.has(name)), ...added]
}

/** The framing of a request's body, as the parser has understood it. */
export function framing(headers: IncomingHttpHeaders, method: string): string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked']
  const length = headers['content-length']
  if (length !== undefined) return ['Content-Length', length]
  return ['POST', 'PUT', 'PATCH'].includes(method) ? ['Content-Length', '0'] : []
}

/** The values of all headers with a name. */
export function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}

function keepHeaders(headers: readonly string[], isKept: (name: string) => boolean): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2)
    if (isKept(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

/** Node writes each character of a header as one byte. */
function toWire(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1')
}
