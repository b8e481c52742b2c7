/** A part of a file: `length` bytes from `start`. */
export interface ByteRange {
  readonly start: number
  readonly length: number
}

const MAX_OFFSET = 2n ** 63n - 1n

/** Why a `Range` cannot be served: the texts of the 416 answers (envd.md 5.6). */
export type RangeFailure = 'invalid range' | 'invalid range: failed to overlap'

/**
 * Parses a `Range` header for a file of that size. An empty result means the whole file: no header, an empty file, or ranges that add up
 * to more than the file.
 */
export function parseRanges(header: string, size: number): readonly ByteRange[] | RangeFailure {
  if (header === '') return []
  if (!header.startsWith('bytes=')) return 'invalid range'
  const specs = header
    .slice('bytes='.length)
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '')
  const ranges = specs.map((spec) => parseSpec(spec, size))
  if (ranges.includes('invalid')) return 'invalid range'
  const overlapping = ranges.filter((range) => typeof range === 'object')
  if (ranges.length > 0 && overlapping.length === 0) return size === 0 ? [] : 'invalid range: failed to overlap'
  const total = overlapping.reduce((sum, range) => sum + range.length, 0)
  return total > size ? [] : overlapping
}

/** `Content-Range` of a range. */
export function contentRange(range: ByteRange, size: number): string {
  return `bytes ${range.start}-${range.start + range.length - 1}/${size}`
}

function parseSpec(spec: string, size: number): ByteRange | 'invalid' | 'beyond' {
  const dash = spec.indexOf('-')
  if (dash < 0) return 'invalid'
  const first = spec.slice(0, dash).trim()
  const last = spec.slice(dash + 1).trim()
  const end = last === '' ? size - 1 : toOffset(last)
  if (first === '') {
    if (last === '' || end === undefined) return 'invalid'
    const length = Math.min(end, size)
    return { start: size - length, length }
  }
  const start = toOffset(first)
  if (start === undefined) return 'invalid'
  // Upstream does not check the end of a range that starts beyond the file.
  if (start >= size) return 'beyond'
  if (end === undefined) return 'invalid'
  return start > end ? 'invalid' : { start, length: Math.min(end, size - 1) - start + 1 }
}

/** Undefined unless it is a number of at most 63 bits. Precision beyond 2^53 does not matter: no file is as large. */
function toOffset(text: string): number | undefined {
  return /^\+?\d+$/.test(text) && BigInt(text.replace('+', '')) <= MAX_OFFSET ? Number(text) : undefined
}
