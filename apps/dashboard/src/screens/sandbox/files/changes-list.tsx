import type { Change } from '@sandyard/dashboard-contract/files'
import { MAX_CHANGES } from '@sandyard/dashboard-contract/limits'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'

interface Props {
  readonly sandboxId: string
  readonly selected: string | undefined
  readonly onSelect: (change: Change) => void
}

const MARKS = { added: '+', modified: '±', deleted: '−' } as const
const CLASSES = { added: 'good', modified: 'warn', deleted: 'bad' } as const

/** What has changed since the sandbox was created, as the engine lists it: nothing runs inside. */
export function ChangesList({ sandboxId, selected, onSelect }: Props) {
  const { value, failure, isLoading, reload } = useCall(`changes ${sandboxId}`, (signal) =>
    call('GET /sandboxes/{sandboxId}/changes', { params: { sandboxId }, signal }),
  )
  if (value === undefined) return isLoading ? <p class="empty">{texts.loading}</p> : <FailureNotice failure={failure} onRetry={reload} />
  if (value.changes.length === 0) return <p class="empty">{texts.noChanges}</p>
  return (
    <div class="tree changes">
      <button type="button" class="button button-small" onClick={reload}>
        {texts.reload}
      </button>
      <ul aria-label={texts.changed}>
        {value.changes.map((change) => (
          <li key={change.path}>
            <button
              type="button"
              class="change"
              aria-current={change.path === selected}
              title={change.path}
              onClick={() => onSelect(change)}
            >
              <span class={CLASSES[change.kind]} title={texts.kinds[change.kind]}>
                {MARKS[change.kind]}
                <span class="off-screen">{texts.kinds[change.kind]}</span>
              </span>
              <span class="truncate">{change.path}</span>
            </button>
          </li>
        ))}
      </ul>
      {value.isCut && <p class="muted small">{texts.cut(MAX_CHANGES)}</p>}
    </div>
  )
}
