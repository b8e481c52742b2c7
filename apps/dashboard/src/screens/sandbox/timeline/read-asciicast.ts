export interface CastEvent {
  /** From the start, in seconds. */
  readonly at: number
  readonly kind: 'output' | 'resize'
  /** Text, or `COLSxROWS`. */
  readonly data: string
}

export interface Cast {
  readonly cols: number
  readonly rows: number
  readonly events: readonly CastEvent[]
  readonly durationS: number
}

const KINDS = { o: 'output', r: 'resize' } as const
const MAX_SIDE = 1000

/**
 * Reads asciicast v2 (a header, then one `[time, "o", data]` a line). Input is left out. A last line that was cut by the cap is left out too. Pauses are at
 * most `mostPauseS`, so that a replay does not wait.
 *
 * @throws Error for anything else than version 2
 */
export function readAsciicast(text: string, mostPauseS = Infinity): Cast {
  const [first = '', ...lines] = text.split('\n')
  const header = parse(first) as { version?: unknown; width?: unknown; height?: unknown } | undefined
  if (header?.version !== 2) throw new Error('The recording is not an asciicast of version 2.')
  const events: CastEvent[] = []
  let realS = 0
  let at = 0
  for (const line of lines) {
    const event = parse(line)
    if (!Array.isArray(event)) continue
    const [time, code, data] = event as unknown[]
    if (typeof time !== 'number' || typeof data !== 'string' || (code !== 'o' && code !== 'r')) continue
    at += Math.min(mostPauseS, Math.max(0, time - realS))
    realS = Math.max(realS, time)
    events.push({ at, kind: KINDS[code], data })
  }
  return { cols: side(header.width, 80), rows: side(header.height, 24), events, durationS: at }
}

/** `120x40` as columns and rows; undefined for another text. */
export function sizeOf(data: string): { readonly cols: number; readonly rows: number } | undefined {
  const match = /^(\d{1,4})x(\d{1,4})$/.exec(data)
  return match === null ? undefined : { cols: side(Number(match[1]), 80), rows: side(Number(match[2]), 24) }
}

/** The index of the first event after `at`. */
export function eventAfter(events: readonly CastEvent[], at: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((events[middle]?.at ?? 0) <= at) low = middle + 1
    else high = middle
  }
  return low
}

function side(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(MAX_SIDE, value) : otherwise
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}
