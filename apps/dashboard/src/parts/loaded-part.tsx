import type { ComponentChildren } from 'preact'
import { partTexts } from '../texts/part-texts.ts'
import { FailureNotice } from './failure-notice.tsx'

export interface LoadedPartProps<Value> {
  readonly value: Value | undefined
  readonly failure: { readonly message: string } | undefined
  readonly reload?: (() => void) | undefined
  readonly children: (value: Value) => ComponentChildren
}

/** What was read, a placeholder before, and the reason when it failed. A former value stays below the reason. */
export function LoadedPart<Value>({ value, failure, reload, children }: LoadedPartProps<Value>) {
  return (
    <>
      <FailureNotice failure={failure} {...(reload !== undefined && { onRetry: reload })} />
      {value === undefined
        ? failure === undefined && (
            <div class="stack" role="status" aria-label={partTexts.loading}>
              <div class="skeleton" />
              <div class="skeleton" />
              <div class="skeleton" />
            </div>
          )
        : children(value)}
    </>
  )
}
