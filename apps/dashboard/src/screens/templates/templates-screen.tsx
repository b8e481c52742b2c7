import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { call } from '../../api/call.ts'
import { paths } from '../../frame/paths.ts'
import type { Column } from '../../parts/data-table.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { machineText } from '../../parts/size-text.ts'
import { Ago } from '../../parts/ago.tsx'
import { usePages } from '../../parts/use-pages.ts'
import { useUrlQuery } from '../../parts/use-url-query.ts'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { BuildStateBadge } from '../builds/build-state-badge.tsx'
import { TemplateActions } from './template-actions.tsx'
import { nameOf } from './template-calls.ts'
import '../../styles/templates.css'

type Sort = 'name' | 'created' | 'updated' | 'used'

export function TemplatesScreen() {
  const [{ search = '', sort = 'updated', order = sort === 'name' ? 'asc' : 'desc' }, change] = useUrlQuery()
  const direction = order === 'asc' ? 'asc' : 'desc'
  const pages = usePages(`${search} ${sort} ${order}`, (cursor, signal) =>
    call('GET /templates', {
      query: { ...(search !== '' && { search }), ...(cursor !== undefined && { cursor }), sort: sort as Sort, order: direction },
      signal,
    }),
  )
  const sortBy = (by: string): void => change({ sort: by, order: by === sort ? (direction === 'asc' ? 'desc' : 'asc') : '' })
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{texts.title}</h1>
      </div>
      <div class="toolbar">
        <SearchBox label={texts.search} value={search} onSearch={(text) => change({ search: text })} />
      </div>
      <PagedTable
        pages={pages}
        caption={texts.caption}
        rowKey={({ templateId }) => templateId}
        sort={{ by: sort, order: direction }}
        onSort={sortBy}
        empty={search === '' ? texts.noneYet : texts.empty}
        columns={columns(pages.reload)}
      />
    </div>
  )
}

function columns(reload: () => void): readonly Column<TemplateRow>[] {
  return [
    {
      id: 'name',
      title: texts.columns.name,
      sort: 'name',
      cell: (row) => (
        <div class="template-name">
          <a href={paths.template(row.templateId)}>{nameOf(row)}</a>
          {row.names.length > 1 && <span class="muted small">+{row.names.length - 1}</span>}
        </div>
      ),
    },
    {
      id: 'visibility',
      title: texts.columns.visibility,
      cell: ({ isPublic }) => (
        <span class={`badge badge-plain ${isPublic ? 'badge-accent' : ''}`}>{isPublic ? texts.public : texts.private}</span>
      ),
    },
    {
      id: 'build',
      title: texts.columns.build,
      cell: ({ newestBuild }) =>
        newestBuild === null ? (
          '–'
        ) : (
          <span class="row nowrap">
            <BuildStateBadge state={newestBuild.status} />
            <a class="mono" href={paths.build(newestBuild.buildId)}>
              {newestBuild.buildId.slice(0, 8)}
            </a>
          </span>
        ),
    },
    {
      id: 'size',
      title: texts.columns.size,
      cell: (row) => <span class="nowrap">{machineText(row)}</span>,
    },
    { id: 'builds', title: texts.columns.builds, isNumber: true, cell: ({ buildCount }) => buildCount },
    { id: 'spawns', title: texts.columns.spawns, isNumber: true, cell: ({ spawnCount }) => spawnCount },
    { id: 'used', title: texts.columns.used, sort: 'used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
    { id: 'updated', title: texts.columns.updated, sort: 'updated', cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
    { id: 'actions', title: texts.columns.actions, cell: (row) => <TemplateActions template={row} onDone={reload} isSmall /> },
  ]
}
