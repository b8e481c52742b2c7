import type { MetricSample } from '@sandyard/dashboard-contract/live/topics'
import type { SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import { paths } from '../../frame/paths.ts'
import { Ago } from '../../parts/ago.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Meter } from '../../parts/meter.tsx'
import { sizeText } from '../../parts/size-text.ts'
import { StateBadge } from '../../parts/state-badge.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { RowMenu } from './row-menu.tsx'

export const CHOSEN_COLUMNS = ['template', 'cpu', 'memory', 'disk', 'started', 'expires', 'key', 'metadata'] as const

export interface ColumnsInput {
  readonly samples: Readonly<Record<string, MetricSample>>
  readonly hidden: ReadonlySet<string>
  readonly select: Pick<Column<SandboxRow>, 'head' | 'cell'>
}

export function listColumns({ samples, hidden, select }: ColumnsInput): readonly Column<SandboxRow>[] {
  const columns: readonly Column<SandboxRow>[] = [
    { id: 'select', title: texts.column.select, ...select },
    { id: 'state', title: texts.column.state, sort: 'state', cell: ({ state }) => <StateBadge state={state} /> },
    { id: 'sandbox', title: texts.column.sandbox, cell: (row) => <Name row={row} /> },
    {
      id: 'template',
      title: texts.column.template,
      sort: 'template',
      cell: ({ templateId, templateName }) => (
        <a href={paths.template(templateId)} class="truncate list-template" title={templateName}>
          {templateName}
        </a>
      ),
    },
    { id: 'cpu', title: texts.column.cpu, cell: ({ sandboxId, cpuCount }) => <Cpu sample={samples[sandboxId]} cpuCount={cpuCount} /> },
    {
      id: 'memory',
      title: texts.column.memory,
      cell: ({ sandboxId, memoryMib }) => {
        const sample = samples[sandboxId]
        const total = sample?.memoryTotalBytes ?? memoryMib * 1024 ** 2
        return <Share used={sample?.memoryUsedBytes} total={total} />
      },
    },
    {
      id: 'disk',
      title: texts.column.disk,
      cell: ({ sandboxId }) => {
        const sample = samples[sandboxId]
        return <Share used={sample?.diskUsedBytes} total={sample?.diskTotalBytes ?? 0} />
      },
    },
    { id: 'started', title: texts.column.started, sort: 'started', cell: ({ startedAt }) => <Ago at={startedAt} /> },
    { id: 'expires', title: texts.column.expires, sort: 'expires', cell: (row) => <End row={row} /> },
    {
      id: 'key',
      title: texts.column.key,
      cell: ({ createdBy: { label } }) => (
        <span class="truncate list-key" title={label}>
          {label}
        </span>
      ),
    },
    { id: 'metadata', title: texts.column.metadata, cell: ({ metadata }) => <Metadata metadata={metadata} /> },
    {
      id: 'actions',
      title: texts.column.actions,
      head: <span class="off-screen">{texts.column.actions}</span>,
      cell: (row) => <RowMenu row={row} />,
    },
  ]
  return columns.filter(({ id }) => !hidden.has(id))
}

function Name({ row: { sandboxId, alias, templateName } }: { readonly row: SandboxRow }) {
  return (
    <a class="mono nowrap" href={paths.sandbox(sandboxId)}>
      {sandboxId}
      {alias !== null && alias !== templateName && <span class="muted"> {alias}</span>}
    </a>
  )
}

function Cpu({ sample, cpuCount }: { readonly sample: MetricSample | undefined; readonly cpuCount: number }) {
  if (sample === undefined) return <span class="muted nowrap">{cpuCount} CPU</span>
  return (
    <span class="usage" title={`${cpuCount} CPU`}>
      <Meter share={sample.cpuPct / 100} />
      <span class="number">{Math.round(sample.cpuPct)}%</span>
    </span>
  )
}

function Share({ used, total }: { readonly used: number | undefined; readonly total: number }) {
  if (used === undefined) return <span class="muted nowrap">{total === 0 ? '–' : sizeText(total)}</span>
  return (
    <span class="usage" title={`${sizeText(used)} of ${sizeText(total)}`}>
      <Meter share={used / total} />
      <span class="number nowrap">{sizeText(used)}</span>
    </span>
  )
}

/** How long it lives, or why it ended and when. */
function End({ row: { state, endsAt, end, pausesAtEnd } }: { readonly row: SandboxRow }) {
  if (end !== null)
    return (
      <span class="list-end" title={end.text}>
        {end.text}{' '}
        <span class="muted">
          · <Ago at={end.at} />
        </span>
      </span>
    )
  if (state === 'paused' || endsAt === null) return <span class="muted">–</span>
  return (
    <span class="nowrap" title={pausesAtEnd ? texts.pausesAtEnd : texts.killedAtEnd}>
      <Countdown at={endsAt} />
    </span>
  )
}

const MOST_PAIRS = 3

function Metadata({ metadata }: { readonly metadata: SandboxRow['metadata'] }) {
  const pairs = Object.entries(metadata)
  if (pairs.length === 0) return <span class="muted">–</span>
  const all = pairs.map(([key, value]) => `${key}=${value}`).join('\n')
  return (
    <span class="list-metadata" title={all}>
      {pairs.slice(0, MOST_PAIRS).map(([key, value]) => (
        <a
          key={key}
          class="pair mono"
          href={`${paths.sandboxes}?metadata=${encodeURIComponent(`${encodeURIComponent(key)}=${encodeURIComponent(value)}`)}`}
        >
          {key}={value}
        </a>
      ))}
      {pairs.length > MOST_PAIRS && <span class="muted small">+{pairs.length - MOST_PAIRS}</span>}
    </span>
  )
}
