import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** The value of `sort` that orders by it. */
  readonly sort?: string
  readonly isNumber?: boolean
}

export interface DataTableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly sort?: { readonly by: string; readonly order: 'asc' | 'desc' }
  readonly onSort?: (by: string) => void
  readonly empty: string
}

/** A native table with keyed rows, a caption and `aria-sort`. */
export function DataTable<Row>({ caption, columns, rows, rowKey, sort, onSort, empty }: DataTableProps<Row>) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="off-screen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ id, title, sort: by, isNumber }) => (
              <th key={id} scope="col" class={isNumber === true ? 'number' : undefined} aria-sort={sortOf(sort, by)}>
                {by === undefined || onSort === undefined ? (
                  title
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
            <tr key={rowKey(row)}>
              {columns.map(({ id, cell, isNumber }) => (
                <td key={id} class={isNumber === true ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">{empty}</p>}
    </div>
  )
}

function sortOf(sort: DataTableProps<never>['sort'], by: string | undefined): 'ascending' | 'descending' | undefined {
  if (sort === undefined || by === undefined || sort.by !== by) return undefined
  return sort.order === 'asc' ? 'ascending' : 'descending'
}
