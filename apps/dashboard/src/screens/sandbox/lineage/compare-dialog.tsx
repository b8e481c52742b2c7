import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { DataTable, type Column } from '../../../parts/data-table.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { filesTexts } from '../../../texts/sandbox-files-texts.ts'
import { lineageTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { compareChanges, type ComparedPath } from './compare-changes.ts'

/** More are not for eyes. */
const MAX_ROWS = 1000

interface Props {
  readonly here: string
  readonly there: string
  readonly onClose: () => void
}

/** The files that changed in two sandboxes since each was created, side by side, as the engine lists them: nothing runs inside. */
export function CompareDialog({ here, there, onClose }: Props) {
  const { value, failure, isLoading, reload } = useCall(`compare ${here} ${there}`, async (signal) => {
    const [ours, theirs] = await Promise.all(
      [here, there].map((sandboxId) => call('GET /sandboxes/{sandboxId}/changes', { params: { sandboxId }, signal })),
    )
    const rows = compareChanges(ours?.changes ?? [], theirs?.changes ?? [])
    return { rows: rows.slice(0, MAX_ROWS), isCut: rows.length > MAX_ROWS || ours?.isCut === true || theirs?.isCut === true }
  })
  return (
    <Dialog title={texts.compareTitle} onClose={onClose} isWide>
      <FailureNotice failure={failure} onRetry={reload} />
      {isLoading && value === undefined && <p class="empty">{filesTexts.loading}</p>}
      {value !== undefined && (
        <DataTable
          caption={texts.compareTitle}
          columns={columnsOf(here, there)}
          rows={value.rows}
          rowKey={({ path }) => path}
          empty={texts.same}
        />
      )}
      {value?.isCut === true && <p class="muted small">{texts.compareCut}</p>}
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          {texts.close}
        </button>
      </div>
    </Dialog>
  )
}

function columnsOf(here: string, there: string): readonly Column<ComparedPath>[] {
  const kindText = (kind: ComparedPath['here']): string => (kind === undefined ? '–' : filesTexts.kinds[kind])
  return [
    { id: 'path', title: texts.path, cell: ({ path }) => <span class="mono">{path}</span> },
    { id: 'here', title: here, cell: (row) => kindText(row.here) },
    { id: 'there', title: there, cell: (row) => kindText(row.there) },
  ]
}
