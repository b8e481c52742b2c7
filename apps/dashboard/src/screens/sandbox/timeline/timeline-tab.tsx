import type { Lane, TimelineEntry } from '@sandyard/dashboard-contract/timeline'
import { useLocation } from 'preact-iso/router'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useCall } from '../../../api/use-call.ts'
import { lazyScreen } from '../../../frame/lazy-screen.ts'
import { paths } from '../../../frame/paths.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { ErrorBoundary } from '../../../parts/error-boundary.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { saveFile } from '../../../parts/save-file.ts'
import { TableFrame } from '../../../parts/table-frame.tsx'
import '../../../styles/sandbox-timeline.css'
import { timelineTexts as texts } from '../../../texts/sandbox-timeline-texts.ts'
import type { SandboxTabProps } from '../sandbox-tab.ts'
import { readTimeline, readWholeTimeline, type TimelinePart } from './read-timeline.ts'
import { TimelineBar } from './timeline-bar.tsx'
import { TimelineRow } from './timeline-row.tsx'

const Replay = lazyScreen(() => import('./replay.tsx').then(({ Replay }) => Replay))

const LANES = Object.keys(texts.lanes) as Lane[]

export function TimelineTab({ sandbox }: SandboxTabProps) {
  const { sandboxId, state, end, endsAt } = sandbox
  const { query, route } = useLocation()
  const lanes = LANES.filter((lane) => (query['lanes'] ?? '').split(',').includes(lane))
  const order = query['order'] === 'asc' ? 'asc' : 'desc'
  const view = { sandboxId, lanes, order } as const
  const key = `${sandboxId} ${lanes.join(',')} ${order}`
  // A change of the sandbox is an entry more.
  const first = useCall(`${key} ${state} ${endsAt}`, (signal) => readTimeline(view, null, signal))
  const [further, setFurther] = useState<TimelinePart | undefined>(undefined)
  const [picked, setPicked] = useState<string | undefined>(undefined)
  const [replayed, setReplayed] = useState<string | undefined>(undefined)
  useEffect(() => setFurther(undefined), [key])

  const entries = useMemo(() => joined(first.value?.entries ?? [], further?.entries ?? []), [first.value, further])
  const cursor = further === undefined ? (first.value?.cursor ?? null) : further.cursor
  const toMs = useMemo(() => (end === null ? Date.now() : Date.parse(end.at)), [end, entries])

  const choose = (changed: { lanes?: readonly Lane[]; order?: 'asc' | 'desc' }): void => {
    const next = { ...view, ...changed }
    const search = new URLSearchParams({
      ...(next.lanes.length > 0 && { lanes: next.lanes.join(',') }),
      ...(next.order === 'asc' && { order: 'asc' }),
    }).toString()
    route(`${paths.sandbox(sandboxId)}${search === '' ? '' : `?${search}`}`, true)
  }
  const more = async (): Promise<void> => {
    const part = await readTimeline(view, cursor)
    setFurther({ entries: joined(further?.entries ?? [], part.entries), cursor: part.cursor })
  }
  const pick = (id: string): void => {
    setPicked(id)
    const row = document.getElementById(`entry-${id}`)
    row?.scrollIntoView({ block: 'center' })
    row?.focus()
  }

  return (
    <div class="stack timeline">
      <div class="toolbar" role="group" aria-label={texts.lanesLabel}>
        {LANES.map((lane) => (
          <button
            key={lane}
            type="button"
            class="button button-small"
            aria-pressed={lanes.includes(lane)}
            onClick={() => choose({ lanes: lanes.includes(lane) ? lanes.filter((other) => other !== lane) : [...lanes, lane] })}
          >
            <span class={`lane-dot lane-${lane}`} />
            {texts.lanes[lane]}
          </button>
        ))}
        <span class="grow" />
        <button type="button" class="button button-small" onClick={() => choose({ order: order === 'asc' ? 'desc' : 'asc' })}>
          {order === 'asc' ? texts.oldest : texts.newest}
        </button>
        <button type="button" class="button button-small" onClick={first.reload}>
          {texts.reload}
        </button>
        <ActionButton isSmall run={async () => saveFile(`${sandboxId}-timeline.json`, await readWholeTimeline(view))}>
          {texts.export}
        </ActionButton>
      </div>
      <FailureNotice failure={first.failure} onRetry={first.reload} />
      <TimelineBar entries={entries} toMs={toMs} onPick={pick} />
      {first.value !== undefined && entries.length === 0 && <p class="empty">{texts.empty}</p>}
      {entries.length > 0 && (
        <TableFrame label={texts.caption}>
          <table class="table">
            <caption class="off-screen">{texts.caption}</caption>
            <thead>
              <tr>
                <th scope="col">{texts.time}</th>
                <th scope="col">{texts.kind}</th>
                <th scope="col">{texts.what}</th>
                <th scope="col">{texts.who}</th>
                <th scope="col" class="number">
                  {texts.lasted}
                </th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <TimelineRow key={entry.id} sandboxId={sandboxId} entry={entry} isPicked={entry.id === picked} onReplay={setReplayed} />
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
      {cursor !== null && (
        <div class="row">
          <ActionButton run={more}>{texts.more}</ActionButton>
        </div>
      )}
      {replayed !== undefined && (
        <ErrorBoundary name={texts.replay}>
          <Replay
            key={replayed}
            sandboxId={sandboxId}
            recordingId={replayed}
            onClose={() => setReplayed(undefined)}
            onRemoved={first.reload}
          />
        </ErrorBoundary>
      )}
    </div>
  )
}

/** Entries of a later page may repeat those of an earlier one when new ones came meanwhile. */
function joined(one: readonly TimelineEntry[], other: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const known = new Set(one.map(({ id }) => id))
  return [...one, ...other.filter(({ id }) => !known.has(id))]
}
