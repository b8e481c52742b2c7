/** A stretch of the bar: `isFolded` ones are idle and drawn narrow, whatever they last. */
export interface Stretch {
  readonly fromMs: number
  readonly toMs: number
  readonly isFolded: boolean
  /** Place and width on the bar, 0 to 1. */
  readonly start: number
  readonly width: number
}

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** Of the bar, for each folded stretch. */
const FOLDED_WIDTH = 0.03
const MAX_FOLDED_SHARE = 0.5

/**
 * Cuts the time from `fromMs` to `toMs` where nothing happened for longer than `idleMs`; what is near an event stays, so that the event keeps some room.
 * The rest shares the bar by its duration.
 */
export function foldTime(spans: readonly Span[], fromMs: number, toMs: number, idleMs: number): readonly Stretch[] {
  const marginMs = idleMs / 4
  const busy: { fromMs: number; toMs: number }[] = []
  const clipped = [...spans, { fromMs, toMs: fromMs }, { fromMs: toMs, toMs }]
    .map((span) => ({ fromMs: Math.max(fromMs, span.fromMs - marginMs), toMs: Math.min(toMs, span.toMs + marginMs) }))
    .filter((span) => span.fromMs <= span.toMs)
    .sort((one, other) => one.fromMs - other.fromMs)
  for (const span of clipped) {
    const last = busy.at(-1)
    if (last !== undefined && span.fromMs - last.toMs <= idleMs - 2 * marginMs) last.toMs = Math.max(last.toMs, span.toMs)
    else busy.push({ ...span })
  }
  const parts: (Span & { isFolded: boolean })[] = []
  for (const [index, span] of busy.entries()) {
    const former = busy[index - 1]
    if (former !== undefined) parts.push({ fromMs: former.toMs, toMs: span.fromMs, isFolded: true })
    parts.push({ ...span, isFolded: false })
  }
  return placed(parts)
}

function placed(parts: readonly (Span & { isFolded: boolean })[]): readonly Stretch[] {
  const folded = parts.filter(({ isFolded }) => isFolded).length
  const foldedWidth = folded === 0 ? 0 : Math.min(FOLDED_WIDTH, MAX_FOLDED_SHARE / folded)
  const busyMs = parts.reduce((sum, part) => sum + (part.isFolded ? 0 : part.toMs - part.fromMs), 0)
  const room = 1 - folded * foldedWidth
  const busyCount = parts.length - folded
  let start = 0
  return parts.map(({ fromMs, toMs, isFolded }) => {
    const width = isFolded ? foldedWidth : busyMs === 0 ? room / busyCount : (room * (toMs - fromMs)) / busyMs
    const stretch = { fromMs, toMs, isFolded, start, width }
    start += width
    return stretch
  })
}

/** The place of an instant on the bar, 0 to 1. */
export function placeOf(stretches: readonly Stretch[], atMs: number): number {
  for (const { fromMs, toMs, start, width } of stretches) {
    if (atMs < fromMs) return start
    if (atMs <= toMs) return toMs === fromMs ? start : start + (width * (atMs - fromMs)) / (toMs - fromMs)
  }
  return 1
}
