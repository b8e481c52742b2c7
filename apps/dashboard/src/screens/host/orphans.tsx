import type { Orphan } from '@sandyard/dashboard-contract/host'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Ago } from '../../parts/ago.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { LoadedPart } from '../../parts/loaded-part.tsx'
import { Panel } from '../../parts/panel.tsx'
import { sizeText } from '../../parts/size-text.ts'
import { hostTexts as texts } from '../../texts/host-texts.ts'

export function Orphans() {
  const { value, failure, reload } = useCall('', (signal) => call('GET /orphans', { signal }))
  const hasOwn = value?.data.some(({ isForeign }) => !isForeign) === true
  const collect = async (): Promise<void> => {
    const { failed } = await call('POST /orphans/collect', { body: { dryRun: false } })
    reload()
    const [first] = failed
    if (first !== undefined) throw new Error(`${first.id}: ${first.message}`)
  }
  return (
    <Panel
      title={texts.orphans}
      isFlush
      actions={
        hasOwn && (
          <ActionButton
            kind="danger"
            done={texts.collected}
            confirm={{ title: texts.collectTitle, text: texts.collectText, button: texts.collect }}
            code={{ cli: 'sandyard gc' }}
            run={collect}
          >
            {texts.collect}
          </ActionButton>
        )
      }
    >
      <LoadedPart value={value} failure={failure} reload={reload}>
        {({ data, isCut }) => (
          <>
            <DataTable
              caption={texts.orphansText}
              rows={data}
              rowKey={({ kind, id }) => `${kind} ${id}`}
              empty={texts.noOrphans}
              columns={COLUMNS}
            />
            {isCut && <p class="empty">{texts.orphansCut}</p>}
          </>
        )}
      </LoadedPart>
    </Panel>
  )
}

const COLUMNS: readonly Column<Orphan>[] = [
  { id: 'kind', title: texts.columns.kind, cell: ({ kind }) => texts.orphanKinds[kind] },
  { id: 'name', title: texts.columns.name, cell: ({ name }) => <code class="host-orphan">{name}</code> },
  { id: 'size', title: texts.columns.size, isNumber: true, cell: ({ bytes }) => (bytes === null ? '–' : sizeText(bytes)) },
  { id: 'created', title: texts.columns.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    id: 'owner',
    title: texts.columns.owner,
    cell: ({ isForeign }) => <span class={isForeign ? 'muted' : undefined}>{isForeign ? texts.foreign : texts.own}</span>,
  },
]
