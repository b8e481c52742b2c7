import { useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { call } from '../../api/call.ts'
import { useCall } from '../../api/use-call.ts'
import { paths } from '../../frame/paths.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { FailureNotice } from '../../parts/failure-notice.tsx'
import { Icon } from '../../parts/icon.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { BulkBar } from './bulk-bar.tsx'
import { FilterBar, isFiltered } from './filter-bar.tsx'
import { JobPanel } from './job-panel.tsx'
import { listColumns } from './list-columns.tsx'
import { ColumnsMenu, readHiddenColumns, ViewsMenu } from './list-menus.tsx'
import { readView, sortBy, viewText, type ListView } from './list-view.ts'
import { selectColumn } from './select-column.tsx'
import { selectRow } from './select-rows.ts'
import { useList } from './use-list.ts'
import { useMetrics } from './use-metrics.ts'
import '../../styles/sandboxes.css'

export function SandboxesScreen() {
  const { query, route } = useLocation()
  const view = useMemo(() => readView(query), [JSON.stringify(query)])
  const list = useList(view)
  const keys = useCall('keys', (signal) => call('GET /keys', { query: { limit: 100 }, signal })).value?.data ?? []
  const [hidden, setHidden] = useState(readHiddenColumns)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isAll, setAll] = useState(false)
  const [jobs, setJobs] = useState<readonly string[]>([])
  const [last, setLast] = useState<string>()

  const { rows: live, later, counts, matching, failure, hasMore, loadMore, hold, showWaiting } = list
  const rows = useMemo(() => {
    const ids = new Set(live?.rows.map(({ sandboxId }) => sandboxId))
    return [...(live?.rows ?? []), ...later.filter(({ sandboxId }) => !ids.has(sandboxId))]
  }, [live, later])
  const samples = useMetrics(rows.filter(({ state }) => state === 'running').map(({ sandboxId }) => sandboxId))
  const order = rows.map(({ sandboxId }) => sandboxId)
  const chosen = order.filter((id) => selected.has(id))

  const change = (next: ListView): void => {
    const text = viewText(next)
    route(text === '' ? paths.sandboxes : `${paths.sandboxes}?${text}`, true)
    setAll(false)
  }
  const clear = (): void => {
    setSelected(new Set())
    setAll(false)
  }
  const select = (id: string, isRange: boolean): void => {
    setSelected(selectRow(selected, { id, last, isRange, order }))
    setAll(false)
    setLast(id)
  }
  const columns = listColumns({
    samples,
    hidden,
    select: selectColumn({
      order,
      selected,
      onSelect: select,
      onAll: () => (chosen.length === order.length ? clear() : setSelected(new Set(order))),
    }),
  })
  return (
    <>
      <div class="page-head">
        <h1>{texts.title}</h1>
        {counts !== undefined && (
          <p class="muted" role="status">
            {texts.counts(counts.running, counts.paused, counts.limit)}
            {counts.starting > 0 && ` · ${texts.starting(counts.starting)}`}
            {isFiltered(view) && ` · ${texts.matching(matching)}`}
          </p>
        )}
        <div class="actions">
          <ViewsMenu view={view} />
          <ColumnsMenu hidden={hidden} onChange={setHidden} />
          <a class="button button-primary" href={paths.newSandbox}>
            <Icon name="plus" />
            {texts.new}
          </a>
        </div>
      </div>
      <FilterBar view={view} onChange={change} keys={keys} />
      <FailureNotice failure={failure} />
      {jobs.map((jobId) => (
        <JobPanel key={jobId} jobId={jobId} onClose={() => setJobs(jobs.filter((other) => other !== jobId))} />
      ))}
      {live !== undefined && live.waiting.length > 0 && (
        <button type="button" class="button waiting-rows" onClick={showWaiting}>
          {texts.waiting(live.waiting.length)} · {texts.show}
        </button>
      )}
      {live === undefined ? (
        failure === undefined && <div class="skeleton list-skeleton" />
      ) : (
        <div
          class="list"
          onPointerEnter={({ pointerType }) => hold(pointerType === 'mouse')}
          onPointerLeave={() => hold(false)}
          onFocusIn={() => hold(true)}
          onFocusOut={({ currentTarget, relatedTarget }) => {
            if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) hold(false)
          }}
        >
          <DataTable
            caption={texts.caption}
            columns={columns}
            rows={rows}
            rowKey={({ sandboxId }) => sandboxId}
            sort={{ by: view.sort, order: view.order }}
            onSort={(by) => change(sortBy(view, by))}
            isSelected={({ sandboxId }) => isAll || selected.has(sandboxId)}
            rowClass={({ sandboxId }) => (live.gone.has(sandboxId) ? 'gone' : undefined)}
            empty={<Empty view={view} />}
          />
        </div>
      )}
      {hasMore && (
        <div class="row">
          <ActionButton run={loadMore}>{texts.loadMore}</ActionButton>
          <span class="muted small">{texts.laterNote}</span>
        </div>
      )}
      <BulkBar
        ids={chosen}
        isAll={isAll}
        matching={matching}
        view={view}
        onAll={() => setAll(true)}
        onClear={clear}
        onJob={(jobId) => setJobs((former) => [jobId, ...former.filter((other) => other !== jobId)].slice(0, 5))}
      />
    </>
  )
}

function Empty({ view }: { readonly view: ListView }) {
  if (isFiltered(view)) return <p>{texts.emptyFiltered}</p>
  return (
    <>
      <p>{texts.empty}</p>
      <p>
        <a class="button button-primary" href={paths.newSandbox}>
          <Icon name="plus" />
          {texts.new}
        </a>
      </p>
    </>
  )
}
