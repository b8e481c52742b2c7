const RESERVED_PATHS: ReadonlySet<string> = new Set([
  '/init',
  '/freeze',
  '/unfreeze',
  '/fsfreeze',
  '/fsthaw',
  '/collapse',
  '/upgrade',
  '/logs',
])

/** A path of plain segments, which needs no decoding, with or without a query. */
const PLAIN_PATH = /^(?:\/[\w.-]*\w)+(?:\?.*)?$/

/** More passes than any router makes. Bounded, because each pass reads the whole path. */
const DECODE_PASSES = 3

/**
 * The control-plane-only route of the daemon that `path` spells, or undefined (control-plane.md 19.4). It decodes more than any one
 * router: percent-encoding once or more, `.` and `..`, repeated and trailing slashes, backslashes, path parameters, query,
 * fragment and case do not hide a route. The daemon uses these names for nothing else, so a false match does no harm.
 */
export function findReservedPath(path: string): string | undefined {
  if (PLAIN_PATH.test(path)) {
    const [plain = ''] = path.toLowerCase().split('?', 1)
    return RESERVED_PATHS.has(plain) ? plain : undefined
  }
  let decoded = path
  for (let pass = 0; pass < DECODE_PASSES && decoded.includes('%'); pass++) decoded = decodePercent(decoded)
  const cleaned = cleanPath(decoded.replaceAll('\\', '/').toLowerCase())
  return RESERVED_PATHS.has(cleaned) ? cleaned : undefined
}

function decodePercent(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function cleanPath(path: string): string {
  const segments: string[] = []
  for (const part of path.split(/[?#]/, 1)[0]?.split('/') ?? []) {
    const segment = part.split(';', 1)[0] ?? ''
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}
