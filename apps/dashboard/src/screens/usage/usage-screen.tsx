import { useState } from 'preact/hooks'
import type { Usage, UsageQuery, UsageRow } from '@sandyard/dashboard-contract/usage'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { csvOf } from '../../parts/csv.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { Panel } from '../../parts/panel.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { SelectBox } from '../../parts/select-box.tsx'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { usageTexts as texts } from '../../texts/usage-texts.ts'
import { UsageChart } from './usage-chart.tsx'
import { hoursText } from './hours-text.ts'
import { rangeOf, timesOf } from './usage-range.ts'
import '../../styles/usage.css'

const GROUPS = ['template', 'key', 'team', 'metadata'] as const

export function UsageScreen() {
  const [query, change] = useUrlQuery()
  const [now] = useState(Date.now)
  const by: UsageQuery['by'] = GROUPS.find((group) => group === query['by']) ?? 'template'
  const metadataKey = query['metadataKey'] ?? ''
  const range = rangeOf(query['range'] ?? '')
  const isAsked = by !== 'metadata' || metadataKey !== ''
  const { value, failure, reload } = useCall<Usage | null>(`${range} ${by} ${metadataKey}`, async (signal) =>
    isAsked ? call('GET /usage', { query: { ...timesOf(range, now), by, ...(by === 'metadata' && { metadataKey }) }, signal }) : null,
  )
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        {value !== undefined && value !== null && (
          <div class="actions">
            <button type="button" class="button" onClick={() => saveCsv(value, by)}>
              {texts.csv}
            </button>
          </div>
        )}
      </div>
      <div class="toolbar">
        <SelectBox
          label={texts.range}
          value={range}
          options={Object.entries<string>(texts.ranges)}
          onSelect={(next) => change({ range: next })}
        />
        <SelectBox
          label={texts.by}
          value={by}
          options={GROUPS.map((group) => [group, texts.groups[group]] as const)}
          onSelect={(next) => change({ by: next, metadataKey: '' })}
        />
        {by === 'metadata' && (
          <SearchBox label={texts.metadataKey} value={metadataKey} onSearch={(text) => change({ metadataKey: text })} />
        )}
      </div>
      {isAsked ? (
        <LoadedPart value={value ?? undefined} failure={failure} reload={reload}>
          {(usage) => (
            <>
              <Panel title={texts.series}>
                <UsageChart series={usage.series} isByDay={range !== 'day'} />
              </Panel>
              <DataTable
                caption={texts.caption}
                rows={usage.rows.length === 0 ? [] : [...usage.rows, { ...usage.total, id: 'total', name: texts.total }]}
                rowKey={({ id }) => id}
                rowClass={({ id }) => (id === 'total' ? 'usage-total' : undefined)}
                empty={texts.empty}
                columns={COLUMNS}
              />
              {usage.isCut && <p class="muted">{texts.cut}</p>}
            </>
          )}
        </LoadedPart>
      ) : (
        <p class="muted">{texts.metadataHint}</p>
      )}
    </div>
  )
}

const COLUMNS: readonly Column<UsageRow>[] = [
  { id: 'name', title: texts.columns.name, cell: ({ name, id }) => name || id },
  { id: 'sandboxes', title: texts.columns.sandboxes, isNumber: true, cell: ({ sandboxes }) => sandboxes },
  { id: 'hours', title: texts.columns.hours, isNumber: true, cell: ({ sandboxHours }) => hoursText(sandboxHours) },
  { id: 'vcpu', title: texts.columns.vcpu, isNumber: true, cell: ({ vcpuHours }) => hoursText(vcpuHours) },
  { id: 'memory', title: texts.columns.memory, isNumber: true, cell: ({ memoryGibHours }) => hoursText(memoryGibHours) },
]

function saveCsv({ rows, from, to }: Usage, by: string): void {
  const lines = rows.map(({ id, name, sandboxes, sandboxHours, vcpuHours, memoryGibHours }) => [
    id,
    name,
    sandboxes,
    sandboxHours,
    vcpuHours,
    memoryGibHours,
  ])
  const head = [by, 'name', 'sandboxes', 'sandbox_hours', 'vcpu_hours', 'memory_gib_hours']
  saveFile(`usage-${from.slice(0, 10)}-${to.slice(0, 10)}-by-${by}.csv`, new Blob([csvOf([head, ...lines])], { type: 'text/csv' }))
}
