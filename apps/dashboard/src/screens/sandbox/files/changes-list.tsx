import type { Change } from '@sandyard/dashboard-contract/files'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'

interface Props {
  readonly sandboxId: string
  readonly selected: string | undefined
  /** Undefined: they are only listed. */
  readonly onSelect: ((change: Change) => void) | undefined
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
            {onSelect === undefined ? (
              <span class="change" title={change.path}>
                <ChangeText {...change} />
              </span>
            ) : (
              <button
                type="button"
                class="change"
                aria-current={change.path === selected}
                title={change.path}
                onClick={() => onSelect(change)}
              >
                <ChangeText {...change} />
              </button>
            )}
          </li>
        ))}
      </ul>
      {value.isCut && <p class="muted small">{texts.cut(value.changes.length)}</p>}
    </div>
  )
}

function ChangeText({ path, kind }: Change) {
  return (
    <>
      <span class={CLASSES[kind]} title={texts.kinds[kind]}>
        {MARKS[kind]}
        <span class="off-screen">{texts.kinds[kind]}</span>
      </span>
      <span class="truncate">{path}</span>
    </>
  )
}
