import { useCall } from '../../../api/use-call.ts'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { readOriginal } from './open-file.ts'

/** The file as it was in the image. */
export function DeletedFile({ sandboxId, path }: { readonly sandboxId: string; readonly path: string }) {
  const { value, failure, isLoading, reload } = useCall(`original ${sandboxId} ${path}`, () => readOriginal(sandboxId, path))
  if (failure !== undefined) return <FailureNotice failure={failure} onRetry={reload} />
  if (isLoading) return <p class="empty">{texts.loading}</p>
  return (
    <>
      <p class="notice">{texts.deleted}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
      <pre class="code-block" tabIndex={0}>
        {value ?? texts.binary}
      </pre>
    </>
  )
}
