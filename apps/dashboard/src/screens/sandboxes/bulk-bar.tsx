import type { NewJobBody } from '@sandyard/dashboard-contract/sandboxes'
import { MAX_JOB_ITEMS } from '@sandyard/dashboard-contract/limits'
import { call } from '../../api/call.ts'
import { useCommands } from '../../frame/use-commands.ts'
import { newUuid } from '../../parts/new-uuid.ts'
import { CopyCode } from '../../parts/copy-code.tsx'
import { runAction } from '../../parts/run-action.ts'
import { me } from '../../session/me.ts'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { toFilter, type ListView } from './list-view.ts'
import { bulkCode } from './bulk-code.ts'
import { EXTEND_SECONDS } from './sandbox-calls.ts'

export interface BulkBarProps {
  readonly ids: readonly string[]
  /** All that match the filter are meant, not only those that are shown. */
  readonly isAll: boolean
  readonly matching: number
  readonly view: ListView
  readonly onAll: () => void
  readonly onClear: () => void
  readonly onJob: (jobId: string) => void
}

const ACTIONS = [
  ['pause', texts.pause],
  ['resume', texts.resume],
  ['extend', texts.extend],
  ['kill', texts.kill],
] as const

export function BulkBar({ ids, isAll, matching, view, onAll, onClear, onJob }: BulkBarProps) {
  const count = isAll ? Math.min(matching, MAX_JOB_ITEMS) : ids.length
  const start = (action: NewJobBody['action'], label: string): void => {
    // The same id with each repetition: the server makes one job.
    const requestId = newUuid()
    const body: NewJobBody = {
      action,
      requestId,
      ...(isAll ? { match: toFilter(view, Date.now()) } : { ids: [...ids] }),
      ...(action === 'extend' && { seconds: EXTEND_SECONDS }),
    }
    void runAction({
      label: `${label}: ${texts.many(count)}`,
      isRepeatable: true,
      run: () =>
        call('POST /jobs', { body }).then(({ jobId }) => {
          onJob(jobId)
          onClear()
        }),
      ...(action === 'kill' && {
        confirm: {
          title: texts.killTitle(texts.many(count)),
          text: count === 1 ? texts.killText : texts.killManyText,
          button: texts.kill,
          ...(!isAll && { code: bulkCode('kill', ids) }),
        },
      }),
    })
  }
  const disabled = me.value?.key?.isReadOnly === true
  // The palette acts on the selection too.
  useCommands(`${isAll} ${ids.join()}`, () =>
    ids.length === 0 || disabled
      ? []
      : ACTIONS.map(([action, label]) => ({ label: `${label}: ${texts.many(count)}`, run: () => start(action, label) })),
  )
  if (ids.length === 0) return null
  return (
    <div class="bulk-bar" role="group" aria-label={texts.selected(count)}>
      <b role="status">{isAll ? texts.allChosen(count) : texts.selected(count)}</b>
      {!isAll && matching > ids.length && (
        <button type="button" class="button button-small button-quiet" onClick={onAll}>
          {texts.allMatching(Math.min(matching, MAX_JOB_ITEMS))}
        </button>
      )}
      <span class="grow" />
      <button type="button" class="button" disabled={disabled} onClick={() => start('pause', texts.pause)}>
        {texts.pause}
      </button>
      <button type="button" class="button" disabled={disabled} onClick={() => start('resume', texts.resume)}>
        {texts.resume}
      </button>
      <button type="button" class="button" disabled={disabled} onClick={() => start('extend', texts.extend)}>
        {texts.extend}
      </button>
      <button type="button" class="button button-danger" disabled={disabled} onClick={() => start('kill', texts.kill)}>
        {texts.killDots}
      </button>
      {!isAll && <CopyCode code={bulkCode('kill', ids)} label={`${texts.kill} ${texts.many(count)}`} />}
      <button type="button" class="button button-quiet" onClick={onClear}>
        {texts.clearSelection}
      </button>
    </div>
  )
}
