import { useEffect, useState } from 'preact/hooks'
import type { BuildRow } from '@sandyard/dashboard-contract/templates'
import { call } from '../../api/call.ts'
import { paths } from '../../frame/paths.ts'
import { subscribe } from '../../live/live-client.ts'
import { PagedTable } from '../../parts/paged-table.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { SelectBox } from '../../parts/select-box.tsx'
import { Ago } from '../../parts/ago.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { buildsTexts as texts } from '../../texts/builds-texts.ts'
import { TagList } from '../../parts/tag-list.tsx'
import { BuildStateBadge } from './build-state-badge.tsx'
import { buildDuration } from './build-time.ts'
import { useNow } from './use-now.ts'
import '../../styles/builds.css'

const STATES = ['waiting', 'building', 'ready', 'failed'] as const

export function BuildsScreen() {
  const [{ status = '', template = '' }, change] = useUrlQuery()
  const pages = usePages(`${status} ${template}`, (cursor, signal) =>
    call('GET /builds', {
      query: { ...(status !== '' && { status }), ...(template !== '' && { template }), ...(cursor !== undefined && { cursor }) },
      signal,
    }),
  )
  const live = useLiveBuilds()
  const items = pages.items?.map((row) => live.get(row.buildId) ?? row)
  const fresh = isFirstPageLive(status, template) ? newer(live, items) : []
  const rows = items === undefined ? undefined : [...fresh, ...items]
  const isBuilding = rows?.some((row) => row.finishedAt === null) === true
  const now = useNow(isBuilding)
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
      </div>
      <div class="toolbar">
        <SearchBox label={texts.template} value={template} onSearch={(text) => change({ template: text })} />
        <SelectBox
          label={texts.columns.status}
          value={status}
          options={[['', texts.allStates], ...STATES.map((state) => [state, texts.states[state]] as const)]}
          onSelect={(value) => change({ status: value })}
        />
      </div>
      <PagedTable
        pages={{ ...pages, items: rows }}
        caption={texts.caption}
        rowKey={({ buildId }) => buildId}
        empty={status === '' && template === '' ? texts.noneYet : texts.empty}
        columns={[
          { id: 'status', title: texts.columns.status, cell: ({ status: state }) => <BuildStateBadge state={state} /> },
          {
            id: 'build',
            title: texts.columns.build,
            cell: ({ buildId }) => (
              <a class="mono" href={paths.build(buildId)}>
                {buildId.slice(0, 8)}
              </a>
            ),
          },
          {
            id: 'template',
            title: texts.columns.template,
            cell: ({ templateId, templateName }) => <a href={paths.template(templateId)}>{templateName}</a>,
          },
          { id: 'tags', title: texts.columns.tags, cell: ({ tags }) => <TagList tags={tags} /> },
          { id: 'created', title: texts.columns.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
          { id: 'took', title: texts.columns.took, isNumber: true, cell: (row) => buildDuration(row, now) ?? '–' },
          {
            id: 'reason',
            title: texts.columns.reason,
            cell: ({ reason }) => reason !== null && <span class="build-reason">{reasonText(reason)}</span>,
          },
        ]}
      />
    </div>
  )
}

function reasonText({ step, message }: { readonly step: string | null; readonly message: string }): string {
  return step === null ? message : `${texts.step(step)}: ${message}`
}

function isFirstPageLive(status: string, template: string): boolean {
  return status === '' && template === ''
}

/** Builds of the live topic that the list does not have. */
function newer(live: ReadonlyMap<string, BuildRow>, items: readonly BuildRow[] | undefined): readonly BuildRow[] {
  const [newest] = items ?? []
  const known = new Set(items?.map(({ buildId }) => buildId))
  return [...live.values()]
    .filter(({ buildId, createdAt }) => !known.has(buildId) && (newest === undefined || createdAt >= newest.createdAt))
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt))
}

/** The newest builds, as they change. */
function useLiveBuilds(): ReadonlyMap<string, BuildRow> {
  const [builds, setBuilds] = useState<ReadonlyMap<string, BuildRow>>(new Map())
  useEffect(
    () =>
      subscribe<'builds'>('builds', {
        onSnapshot: ({ rows }) => setBuilds(new Map(rows.map((row) => [row.buildId, row]))),
        onPatch: ({ rows }) => setBuilds((former) => new Map([...former, ...rows.map((row) => [row.buildId, row] as const)])),
      }),
    [],
  )
  return builds
}
