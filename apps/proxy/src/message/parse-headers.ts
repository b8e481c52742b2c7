import type { FramingHeaders, HeadParts } from './head.ts'
import { trimBlanks } from './trim-blanks.ts'

const NAME = /^[\w!#$%&'*+\-.^`|~]+$/
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const FRAMING: ReadonlySet<string> = new Set<keyof FramingHeaders>(['connection', 'content-length', 'trailer', 'transfer-encoding'])

/**
 * Reads header lines, or lines of trailers, from `lines[first]` on.
 *
 * @throws when one of them is not a header, is folded, or repeats the length
 */
export function parseHeaders(lines: readonly string[], first: number): HeadParts {
  const rawHeaders: string[] = []
  const headers: FramingHeaders = {}
  for (const line of lines.slice(first)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    const value = trimBlanks(line, colon + 1)
    if (!NAME.test(name) || !VALUE.test(value)) throw new Error('the message has an invalid header')
    rawHeaders.push(name, value)
    const lower = name.toLowerCase()
    if (FRAMING.has(lower)) addFraming(headers, lower as keyof FramingHeaders, value)
  }
  return { rawHeaders, headers }
}

function addFraming(headers: FramingHeaders, name: keyof FramingHeaders, value: string): void {
  const known = headers[name]
  if (known !== undefined && name === 'content-length') throw new Error('the message has two lengths')
  headers[name] = known === undefined ? value : `${known}, ${value}`
}
