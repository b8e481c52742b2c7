import type { OutputLine } from './output-line.ts'

/** The kinds of data that clients know, by their MIME types. The last two come from the extension of the Python kernel. */
const KNOWN: Readonly<Record<string, string>> = {
  'text/plain': 'text',
  'text/html': 'html',
  'text/markdown': 'markdown',
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'application/pdf': 'pdf',
  'text/latex': 'latex',
  'application/json': 'json',
  'application/javascript': 'javascript',
  'e2b/data': 'data',
  'e2b/chart': 'chart',
}

interface ResultOptions {
  /** Whether it is the value of the cell, and not something that the cell displayed. */
  readonly isMainResult: boolean
  readonly quotes: readonly string[]
}

/**
 * A result of a kernel as clients have it. Data of other types goes into `extra`, where the Python client reads it, and beside the known
 * kinds, where the JavaScript client collects it.
 */
export function toResult(data: Readonly<Record<string, unknown>>, { isMainResult, quotes }: ResultOptions): OutputLine {
  const known: Record<string, unknown> = {}
  const extra: Record<string, unknown> = {}
  for (const [type, value] of Object.entries(data)) {
    const kind = KNOWN[type]
    if (kind === undefined) extra[type] = value
    else if (kind === 'text') known[kind] = withoutQuotes(value, quotes)
    else if (kind !== 'chart' || !isEmpty(value)) known[kind] = value
  }
  return {
    ...extra,
    ...known,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    type: 'result',
    is_main_result: isMainResult,
  }
}

/** A string is shown with its quotes, which are not part of the text. */
function withoutQuotes(text: unknown, quotes: readonly string[]): unknown {
  if (typeof text !== 'string' || text.length < 2) return text
  return quotes.some((quote) => text.startsWith(quote) && text.endsWith(quote)) ? text.slice(1, -1) : text
}

/** The extension can say nothing about some figures. */
function isEmpty(chart: unknown): boolean {
  return typeof chart !== 'object' || chart === null || Object.keys(chart).length === 0
}
