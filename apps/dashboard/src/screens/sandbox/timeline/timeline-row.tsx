import type { TimelineEntry } from '@sandyard/dashboard-contract/timeline'
import { paths } from '../../../frame/paths.ts'
import { Icon } from '../../../parts/icon.tsx'
import { durationText } from '../../../parts/time-text.ts'
import { Time } from '../../../parts/time.tsx'
import { timelineTexts as texts } from '../../../texts/sandbox-timeline-texts.ts'
import { actorText } from '../actor-text.ts'
import { isBad } from './timeline-bar.tsx'

interface Props {
  readonly sandboxId: string
  readonly entry: TimelineEntry
  readonly isPicked: boolean
  readonly onReplay: (recordingId: string) => void
}

function recordingUrl(sandboxId: string, recordingId: string): string {
  return `/dashboard/api/sandboxes/${encodeURIComponent(sandboxId)}/recordings/${encodeURIComponent(recordingId)}`
}

export function TimelineRow({ sandboxId, entry, isPicked, onReplay }: Props) {
  const { lane, at, endedAt, text, actor, exitCode, recordingId, data } = entry
  return (
    <tr id={`entry-${entry.id}`} class={isPicked ? 'timeline-picked' : undefined} tabIndex={-1}>
      <td class="nowrap">
        <Time at={at} />
      </td>
      <td class="nowrap">
        <span class={`lane lane-${lane}`}>{texts.lanes[lane]}</span>
      </td>
      <td class="timeline-text">
        <span class={isBad(entry) ? 'bad' : undefined}>{text}</span>
        {exitCode !== undefined && <span class={`badge badge-${exitCode === 0 ? 'good' : 'bad'}`}>{texts.exit(exitCode)}</span>}
        {recordingId !== undefined && (
          <span class="row">
            <button type="button" class="button button-small" onClick={() => onReplay(recordingId)}>
              <Icon name="play" />
              {texts.replay}
            </button>
            <a class="button button-small button-quiet" href={recordingUrl(sandboxId, recordingId)} download={`${recordingId}.cast`}>
              <Icon name="download" />
              {texts.cast}
            </a>
          </span>
        )}
        {lane === 'net' && isBad(entry) && <a href={paths.sandbox(sandboxId, 'network')}>{texts.allow}</a>}
        {data !== undefined && Object.keys(data).length > 0 && (
          <details>
            <summary class="small muted">{texts.details}</summary>
            <pre class="timeline-data">{JSON.stringify(data, undefined, 2)}</pre>
          </details>
        )}
      </td>
      <td>{actor === undefined ? '' : actorText(actor)}</td>
      <td class="number nowrap">
        {endedAt === null ? texts.running : endedAt === undefined ? '' : durationText(Date.parse(endedAt) - Date.parse(at))}
      </td>
    </tr>
  )
}
