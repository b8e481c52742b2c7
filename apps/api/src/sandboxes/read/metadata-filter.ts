import { AppError } from '@sandyard/kit/errors/app-error'

/**
 * The pairs of a `metadata` parameter (control-plane.md 6.3.4). Clients encode each key and value, join them as a query string and encode
 * that again. `text` is the parameter after HTTP's own decoding.
 *
 * @throws AppError `invalid_argument`
 */
export function parseMetadataFilter(text: string): Record<string, string> {
  const pairs = unescapeUrl(text)
    .split('&')
    .map((part) => part.split('='))
  const filter: [string, string][] = []
  for (const [key, value, ...more] of pairs) {
    if (key === undefined || value === undefined || more.length > 0) throw invalid('invalid key value pair')
    filter.push([unescapeUrl(key), unescapeUrl(value)])
  }
  if (filter.flat().some((item) => item.includes('\0'))) throw invalid('metadata never contains NUL')
  return Object.fromEntries(filter)
}

function unescapeUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalid('invalid URL escape')
  }
}

function invalid(detail: string): AppError {
  return new AppError('invalid_argument', `Error parsing metadata: error parsing metadata: ${detail}`)
}
