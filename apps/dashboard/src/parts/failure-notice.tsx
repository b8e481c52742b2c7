import { frameTexts } from '../texts/frame-texts.ts'

export interface FailureNoticeProps {
  readonly failure: { readonly message: string } | undefined
  readonly onRetry?: () => void
}

/** Why something could not be read, with a button to read it again. Nothing without a failure. */
export function FailureNotice({ failure, onRetry }: FailureNoticeProps) {
  if (failure === undefined) return null
  return (
    <div class="notice notice-failed" role="alert">
      <p class="grow">{failure.message}</p>
      {onRetry !== undefined && (
        <button type="button" class="button button-small" onClick={onRetry}>
          {frameTexts.tryAgain}
        </button>
      )}
    </div>
  )
}
