import type { Lane, TimelineEntry } from '@sandyard/dashboard-contract/timeline'
import { call } from '../../../api/call.ts'

const PAGE = 100
/** Of an export: 10,000 entries. */
const MAX_PAGES = 100

export interface TimelineView {
  readonly sandboxId: string
  readonly lanes: readonly Lane[]
  readonly order: 'asc' | 'desc'
}

export interface TimelinePart {
  readonly entries: readonly TimelineEntry[]
  readonly cursor: string | null
}

export async function readTimeline(
  { sandboxId, lanes, order }: TimelineView,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<TimelinePart> {
  const { data, nextCursor } = await call('GET /sandboxes/{sandboxId}/timeline', {
    params: { sandboxId },
    query: { order, limit: PAGE, ...(lanes.length > 0 && { lane: lanes.join(',') }), ...(cursor !== null && { cursor }) },
    signal,
  })
  return { entries: data, cursor: nextCursor }
}

/** All of it as JSON, for people who look at it with other tools. */
export async function readWholeTimeline(view: TimelineView): Promise<Blob> {
  const all: TimelineEntry[] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const part = await readTimeline(view, cursor)
    all.push(...part.entries)
    cursor = part.cursor
    if (cursor === null) break
  }
  return new Blob([JSON.stringify(all, undefined, 2)], { type: 'application/json' })
}
