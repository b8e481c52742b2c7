import type { AuditQuery, AuditRow } from '@sandyard/dashboard-contract/usage'
import { call } from '../../api/call.ts'
import { csvOf } from '../../parts/csv.ts'
import type { Column } from '../../parts/data-table.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { SelectBox } from '../../parts/select-box.tsx'
import { Time } from '../../parts/time.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useUrlQuery, type UrlQuery } from '../../parts/use-url-query.ts'
import { me } from '../../session/session.ts'
import { auditTexts as texts } from '../../texts/audit-texts.ts'
import { DayField } from './day-field.tsx'
import '../../styles/audit.css'
import '../../styles/forms.css'

const DAY_MS = 86_400_000

export function AuditScreen() {
  const [filter, change] = useUrlQuery()
  const isOperator = me.value?.role === 'operator'
  const asked = toQuery(filter, isOperator)
  const pages = usePages(JSON.stringify(asked), (cursor, signal) =>
    call('GET /audit', { query: { ...asked, ...(cursor !== undefined && { cursor }) }, signal }),
  )
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
        <div class="actions">
          <button type="button" class="button" onClick={() => saveCsv(pages.items ?? [])}>
            {texts.csv}
          </button>
        </div>
      </div>
      <div class="toolbar">
        <SearchBox label={texts.search} value={filter['search'] ?? ''} onSearch={(search) => change({ search })} />
        <SearchBox label={texts.operation} value={filter['operation'] ?? ''} onSearch={(operation) => change({ operation })} />
        <SelectBox
          label={texts.actor}
          value={filter['actor'] ?? ''}
          options={Object.entries<string>(texts.actors)}
          onSelect={(actor) => change({ actor })}
        />
        <DayField label={texts.from} value={filter['from'] ?? ''} onChange={(from) => change({ from })} />
        <DayField label={texts.to} value={filter['to'] ?? ''} onChange={(to) => change({ to })} />
        {isOperator && (
          <label class="check">
            <input
              type="checkbox"
              checked={filter['allTeams'] === 'true'}
              onChange={({ currentTarget }) => change({ allTeams: currentTarget.checked ? 'true' : '' })}
            />
            {texts.allTeams}
          </label>
        )}
      </div>
      <PagedTable
        pages={pages}
        caption={texts.caption}
        rowKey={({ id }) => id}
        empty={texts.empty}
        columns={isOperator && filter['allTeams'] === 'true' ? [...COLUMNS.slice(0, 2), TEAM, ...COLUMNS.slice(2)] : COLUMNS}
      />
    </div>
  )
}

/** Days of the address are local days. */
function toQuery(filter: UrlQuery, isOperator: boolean): AuditQuery {
  const { search = '', operation = '', actor = '', from = '', to = '', allTeams = '' } = filter
  const since = Date.parse(`${from}T00:00`)
  const until = Date.parse(`${to}T00:00`)
  return {
    ...(search !== '' && { search }),
    ...(operation !== '' && { operation }),
    ...(actor !== '' && { actor: actor as NonNullable<AuditQuery['actor']> }),
    ...(Number.isFinite(since) && { from: new Date(since).toISOString() }),
    ...(Number.isFinite(until) && { to: new Date(until + DAY_MS).toISOString() }),
    ...(isOperator && allTeams === 'true' && { allTeams: true }),
  }
}

const TEAM: Column<AuditRow> = { id: 'team', title: texts.columns.team, cell: ({ teamName }) => teamName ?? texts.unknownTeam }

const COLUMNS: readonly Column<AuditRow>[] = [
  {
    id: 'at',
    title: texts.columns.at,
    cell: ({ at }) => (
      <span class="nowrap">
        <Time at={at} />
      </span>
    ),
  },
  { id: 'operation', title: texts.columns.operation, cell: ({ operation }) => <code>{operation}</code> },
  {
    id: 'actor',
    title: texts.columns.actor,
    cell: ({ actor }) => (
      <span class="row">
        {actor.label}
        {actor.viaDashboard === true && <span class="badge badge-plain">{texts.viaDashboard}</span>}
      </span>
    ),
  },
  { id: 'targets', title: texts.columns.targets, cell: ({ targets }) => <code class="audit-targets">{targetsText(targets)}</code> },
  {
    id: 'status',
    title: texts.columns.status,
    isNumber: true,
    cell: ({ status }) => <span class={status >= 400 ? 'audit-refused' : undefined}>{status}</span>,
  },
  { id: 'address', title: texts.columns.address, cell: ({ clientAddress }) => <code>{clientAddress}</code> },
]

function targetsText(targets: AuditRow['targets']): string {
  return Object.entries(targets)
    .filter(([name]) => name !== 'via')
    .map(([name, value]) => `${name}=${typeof value === 'object' ? value.join(',') : value}`)
    .join(' ')
}

function saveCsv(rows: readonly AuditRow[]): void {
  const head = ['at', 'operation', 'actor', 'team', 'targets', 'status', 'address', 'request']
  const lines = rows.map(({ at, operation, actor, teamName, targets, status, clientAddress, requestId }) => [
    at,
    operation,
    actor.label,
    teamName,
    targetsText(targets),
    status,
    clientAddress,
    requestId,
  ])
  saveFile('audit.csv', new Blob([csvOf([head, ...lines])], { type: 'text/csv' }))
}
