import type { ComponentChildren } from 'preact'
import { TableFrame } from './table-frame.tsx'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Instead of the title's text. */
  readonly head?: ComponentChildren
  /** The value of `sort` that orders by it. */
  readonly sort?: string
  readonly isNumber?: boolean
}

export interface DataTableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sort?: { readonly by: string; readonly order: 'asc' | 'desc' } | undefined
  readonly onSort?: (by: string) => void
  readonly empty: ComponentChildren
  readonly isSelected?: (row: Row) => boolean
  readonly rowClass?: (row: Row) => string | undefined
}

/**
 * A native table with keyed rows, a caption and `aria-sort`. The keys j and k go through the rows: they focus the first link of a row; x ticks its
 * checkbox (frame/shortcuts.ts).
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, sort, onSort, empty, isSelected, rowClass } = props
  return (
    <TableFrame label={caption}>
      <table class="table">
        <caption class="off-screen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ id, title, head, sort: by, isNumber }) => (
              <th key={id} scope="col" class={isNumber === true ? 'number' : undefined} aria-sort={sortOf(sort, by)}>
                {by === undefined || onSort === undefined ? (
                  (head ?? title)
                ) : (
                  <button type="button" class="sort" onClick={() => onSort(by)}>
                    {title}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} data-row={rowKey(row)} aria-selected={isSelected?.(row)} class={rowClass?.(row)}>
              {columns.map(({ id, cell, isNumber }) => (
                <td key={id} data-column={id} class={isNumber === true ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <div class="empty">{empty}</div>}
    </TableFrame>
  )
}

function sortOf(sort: DataTableProps<never>['sort'], by: string | undefined): 'ascending' | 'descending' | undefined {
  if (sort === undefined || by === undefined || sort.by !== by) return undefined
  return sort.order === 'asc' ? 'ascending' : 'descending'
}
