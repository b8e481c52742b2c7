import { partTexts } from '../texts/part-texts.ts'
import { ActionButton } from './action-button.tsx'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { LoadedPart } from './loaded-part.tsx'
import type { Pages } from './use-pages.ts'
import '../styles/lists.css'

export type PagedTableProps<Row> = Omit<DataTableProps<Row>, 'rows'> & { readonly pages: Pages<Row> }

/** A table of the pages that were read, with a button for the next one. */
export function PagedTable<Row>({ pages, ...table }: PagedTableProps<Row>) {
  const { items, failure, reload, more } = pages
  return (
    <LoadedPart value={items} failure={failure} reload={reload}>
      {(rows) => (
        <>
          <DataTable {...table} rows={rows} />
          {more !== undefined && (
            <div class="more">
              <ActionButton run={more}>{partTexts.more}</ActionButton>
            </div>
          )}
        </>
      )}
    </LoadedPart>
  )
}
