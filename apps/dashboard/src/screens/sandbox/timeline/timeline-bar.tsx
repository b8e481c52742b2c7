import type { Lane, TimelineEntry } from '@sandyard/dashboard-contract/timeline'
import { useMemo } from 'preact/hooks'
import { durationText, timeText } from '../../../parts/time-text.ts'
import { timelineTexts as texts } from '../../../texts/sandbox-timeline-texts.ts'
import { foldTime, placeOf } from './fold-time.ts'

const WIDTH = 1000
const LANE_HEIGHT = 14
const IDLE_MS = 60_000
const ORDER: readonly Lane[] = ['lifecycle', 'command', 'terminal', 'file', 'port', 'net', 'limit']

interface Props {
  readonly entries: readonly TimelineEntry[]
  /** Where the bar ends: the end of the sandbox, or now. */
  readonly toMs: number
  readonly onPick: (id: string) => void
}

/** The entries on a line, a lane for each kind; time in which nothing happened is folded. For the eye and the mouse: the list has the same. */
export function TimelineBar({ entries, toMs, onPick }: Props) {
  const { stretches, lanes, fromMs } = useMemo(() => {
    const spans = entries.map((entry) => ({ fromMs: Date.parse(entry.at), toMs: endOf(entry, toMs) }))
    const from = Math.min(toMs, ...spans.map((span) => span.fromMs))
    return {
      fromMs: from,
      stretches: foldTime(spans, from, Math.max(from, toMs), IDLE_MS),
      lanes: ORDER.filter((lane) => entries.some((entry) => entry.lane === lane)),
    }
  }, [entries, toMs])
  if (entries.length === 0) return null
  const height = lanes.length * LANE_HEIGHT + 4
  const x = (ms: number): number => placeOf(stretches, ms) * WIDTH
  return (
    <div class="timeline-bar">
      <svg
        viewBox={`0 0 ${WIDTH} ${height}`}
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={texts.bar(entries.length, timeText(new Date(fromMs).toISOString()), timeText(new Date(toMs).toISOString()))}
      >
        {stretches
          .filter(({ isFolded }) => isFolded)
          .map((stretch) => (
            <rect key={stretch.fromMs} class="timeline-fold" x={stretch.start * WIDTH} y={0} width={stretch.width * WIDTH} height={height}>
              <title>{texts.folded(durationText(stretch.toMs - stretch.fromMs))}</title>
            </rect>
          ))}
        {entries.map((entry) => {
          const start = x(Date.parse(entry.at))
          const width = entry.endedAt === undefined ? 3 : Math.max(3, x(endOf(entry, toMs)) - start)
          return (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the list is for the keyboard
            <rect
              key={entry.id}
              class={`timeline-mark lane-${entry.lane}${isBad(entry) ? ' timeline-bad' : ''}`}
              x={Math.min(start, WIDTH - 3)}
              y={lanes.indexOf(entry.lane) * LANE_HEIGHT + 3}
              width={width}
              height={LANE_HEIGHT - 4}
              onClick={() => onPick(entry.id)}
            >
              <title>{`${timeText(entry.at)} ${entry.text}`}</title>
            </rect>
          )
        })}
      </svg>
      <div class="timeline-ends small muted">
        <span>{timeText(new Date(fromMs).toISOString())}</span>
        <span>{timeText(new Date(toMs).toISOString())}</span>
      </div>
    </div>
  )
}

function endOf(entry: TimelineEntry, nowMs: number): number {
  if (entry.endedAt === undefined) return Date.parse(entry.at)
  return entry.endedAt === null ? nowMs : Date.parse(entry.endedAt)
}

export function isBad({ exitCode, lane, kind }: TimelineEntry): boolean {
  return (exitCode !== undefined && exitCode !== 0) || lane === 'limit' || kind.includes('deny') || kind.includes('denied')
}
