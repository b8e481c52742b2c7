import type { ComponentChildren } from 'preact'
import { partTexts } from '../texts/part-texts.ts'

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
      {failure !== undefined && (
        <div class="notice notice-failed" role="alert">
          <span class="grow">{failure.message}</span>
          {reload !== undefined && (
            <button type="button" class="button button-small" onClick={reload}>
              {partTexts.tryAgain}
            </button>
          )}
        </div>
      )}
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
