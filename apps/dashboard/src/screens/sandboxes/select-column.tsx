import type { SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import type { Column } from '../../parts/data-table.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'

export interface SelectColumnInput {
  readonly order: readonly string[]
  readonly selected: ReadonlySet<string>
  readonly onSelect: (id: string, isRange: boolean) => void
  readonly onAll: () => void
}

/** The checkboxes of the rows, and the one of all. */
export function selectColumn({ order, selected, onSelect, onAll }: SelectColumnInput): Pick<Column<SandboxRow>, 'head' | 'cell'> {
  const count = order.filter((id) => selected.has(id)).length
  return {
    head: (
      <input
        type="checkbox"
        aria-label={texts.selectAll}
        checked={count > 0 && count === order.length}
        indeterminate={count > 0 && count < order.length}
        onChange={onAll}
      />
    ),
    cell: ({ sandboxId }) => (
      <input
        type="checkbox"
        aria-label={texts.select(sandboxId)}
        checked={selected.has(sandboxId)}
        onClick={(event) => onSelect(sandboxId, event.shiftKey)}
      />
    ),
  }
}
