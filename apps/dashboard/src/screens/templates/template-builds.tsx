import type { TemplateRow } from '@sandyard/dashboard-contract/templates'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { paths } from '../../frame/paths.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { TagList } from '../../parts/tag-list.tsx'
import { Ago } from '../../parts/ago.tsx'
import { buildsTexts } from '../../texts/builds-texts.ts'
import { templatesTexts as texts } from '../../texts/templates-texts.ts'
import { BuildStateBadge } from '../builds/build-state-badge.tsx'
import { buildDuration } from '../builds/build-time.ts'

const SHOWN = 10

export function TemplateBuilds({ template: { templateId } }: { readonly template: TemplateRow }) {
  const { value, failure, reload } = useCall(templateId, (signal) =>
    call('GET /builds', { query: { template: templateId, limit: SHOWN }, signal }),
  )
  return (
    <section class="panel" aria-labelledby="builds">
      <div class="panel-head">
        <h2 id="builds">{texts.builds}</h2>
        <div class="actions">
          <a href={`${paths.builds}?template=${templateId}`}>{texts.allBuilds}</a>
        </div>
      </div>
      <LoadedPart value={value} failure={failure} reload={reload}>
        {({ data }) => (
          <DataTable
            caption={texts.buildsCaption}
            rows={data}
            rowKey={({ buildId }) => buildId}
            empty={texts.buildsEmpty}
            columns={[
              { id: 'status', title: buildsTexts.columns.status, cell: ({ status }) => <BuildStateBadge state={status} /> },
              {
                id: 'build',
                title: buildsTexts.columns.build,
                cell: ({ buildId }) => (
                  <a class="mono" href={paths.build(buildId)}>
                    {buildId.slice(0, 8)}
                  </a>
                ),
              },
              { id: 'tags', title: buildsTexts.columns.tags, cell: ({ tags }) => <TagList tags={tags} /> },
              { id: 'created', title: buildsTexts.columns.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
              {
                id: 'took',
                title: buildsTexts.columns.took,
                isNumber: true,
                cell: (row) => buildDuration(row, Date.parse(row.finishedAt ?? row.createdAt)) ?? '–',
              },
              {
                id: 'reason',
                title: buildsTexts.columns.reason,
                cell: ({ reason }) => reason !== null && <span class="build-reason">{reason.message}</span>,
              },
            ]}
          />
        )}
      </LoadedPart>
    </section>
  )
}
