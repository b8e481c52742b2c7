import type { LineageNode } from '@sandyard/dashboard-contract/timeline'
import { useMemo, useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { paths } from '../../../frame/paths.ts'
import { DataTable, type Column } from '../../../parts/data-table.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { sizeText } from '../../../parts/size-text.ts'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import '../../../styles/sandbox-panels.css'
import { lineageTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import type { SandboxTabProps } from '../sandbox-tab.ts'
import { treeOrder, type TreeItem } from '../tree-order.ts'
import { CompareDialog } from './compare-dialog.tsx'

/** Files of others are not there any more, or not yet. */
const COMPARABLE: ReadonlySet<string> = new Set(['running', 'paused'])
const ICONS = { sandbox: 'sandboxes', snapshot: 'camera', template: 'templates' } as const

export function LineageTab({ sandbox }: SandboxTabProps) {
  const { sandboxId, state } = sandbox
  const { value, failure, reload } = useCall(`lineage ${sandboxId} ${state}`, (signal) =>
    call('GET /sandboxes/{sandboxId}/lineage', { params: { sandboxId }, signal }),
  )
  const rows = useMemo(
    () =>
      treeOrder(
        value?.nodes ?? [],
        ({ id }) => id,
        ({ parentId }) => parentId,
      ),
    [value],
  )
  const [compared, setCompared] = useState<string | undefined>(undefined)
  const onCompare = COMPARABLE.has(state) ? setCompared : undefined
  const columns = useMemo(() => columnsOf(sandboxId, onCompare), [sandboxId, onCompare])
  return (
    <div class="stack">
      <FailureNotice failure={failure} onRetry={reload} />
      {value !== undefined && (
        <DataTable
          caption={texts.caption}
          columns={columns}
          rows={rows}
          rowKey={({ item }) => `${item.kind} ${item.id}`}
          empty={texts.empty}
        />
      )}
      {compared !== undefined && <CompareDialog here={sandboxId} there={compared} onClose={() => setCompared(undefined)} />}
      {value?.isCut === true && <p class="muted small">{texts.cut}</p>}
    </div>
  )
}

function columnsOf(sandboxId: string, onCompare: ((id: string) => void) | undefined): readonly Column<TreeItem<LineageNode>>[] {
  return [
    {
      id: 'name',
      title: texts.name,
      cell: ({ item, level }) => (
        <span class="lineage-name" style={{ paddingInlineStart: `${level * 22}px` }}>
          {level > 0 && (
            <span class="muted" aria-hidden="true">
              └
            </span>
          )}
          <Icon name={ICONS[item.kind]} />
          <NodeName node={item} />
          {item.id === sandboxId && <span class="badge badge-accent badge-plain">{texts.here}</span>}
        </span>
      ),
    },
    { id: 'kind', title: texts.kind, cell: ({ item }) => texts.kinds[item.kind] },
    { id: 'state', title: texts.state, cell: ({ item }) => <StateBadge state={item.state} /> },
    { id: 'made', title: texts.made, cell: ({ item }) => <Time at={item.at} /> },
    { id: 'size', title: texts.size, isNumber: true, cell: ({ item }) => (item.bytes === null ? '–' : sizeText(item.bytes)) },
    {
      id: 'start',
      title: texts.actions,
      cell: ({ item }) => {
        if (item.kind !== 'sandbox') {
          return (
            <a class="button button-small" href={`${paths.newSandbox}?template=${encodeURIComponent(item.id)}`}>
              {texts.start}
            </a>
          )
        }
        if (onCompare === undefined || item.id === sandboxId || !COMPARABLE.has(item.state)) return ''
        return (
          <button type="button" class="button button-small" aria-label={texts.compareWith(item.id)} onClick={() => onCompare(item.id)}>
            {texts.compare}
          </button>
        )
      },
    },
  ]
}

function NodeName({ node }: { readonly node: LineageNode }) {
  if (node.kind === 'sandbox') {
    return (
      <a class="mono" href={paths.sandbox(node.id, 'lineage')}>
        {node.id}
        {node.name !== node.id && <span class="muted"> {node.name}</span>}
      </a>
    )
  }
  if (node.kind === 'template') return <a href={paths.template(node.id)}>{node.name}</a>
  return <span class="mono">{node.name}</span>
}
