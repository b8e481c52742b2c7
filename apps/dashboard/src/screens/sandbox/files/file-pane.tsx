import type { FileEntry } from '@sandyard/dashboard-contract/files'
import { MAX_EDIT_BYTES } from '@sandyard/dashboard-contract/limits'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useCall } from '../../../api/use-call.ts'
import { lazyScreen } from '../../../frame/lazy-screen.ts'
import { ErrorBoundary } from '../../../parts/error-boundary.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { sizeText } from '../../../parts/size-text.ts'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { openFile, type OpenFile } from './open-file.ts'

const TextFile = lazyScreen(() => import('./text-file.tsx').then(({ TextFile }) => TextFile))

let turns = 0

interface Props {
  readonly sandboxId: string
  readonly path: string
  readonly listed: FileEntry | null | undefined
  readonly startsWithDiff: boolean
  readonly onDirty: (isDirty: boolean) => void
}

/** The content of one file. */
export function FilePane({ sandboxId, path, listed, startsWithDiff, onDirty }: Props) {
  const { value, failure, isLoading, reload } = useCall(`${sandboxId} ${path}`, (signal) => openFile(sandboxId, path, signal))
  // Each content that is read gets an editor of its own.
  const turn = useMemo(() => (turns += 1), [value])
  if (value === undefined) return isLoading ? <p class="empty">{texts.loading}</p> : <FailureNotice failure={failure} onRetry={reload} />
  return (
    <ErrorBoundary name={path}>
      {value.kind === 'text' ? (
        <TextFile
          key={turn}
          sandboxId={sandboxId}
          entry={value.entry}
          text={value.text}
          listed={listed}
          startsWithDiff={startsWithDiff}
          onDirty={onDirty}
          onReload={() => {
            onDirty(false)
            reload()
          }}
        />
      ) : (
        <Other file={value} />
      )}
    </ErrorBoundary>
  )
}

function Other({ file }: { readonly file: Exclude<OpenFile, { kind: 'text' }> }) {
  if (file.kind === 'image') return <Picture image={file.image} name={file.entry.name} />
  if (file.kind === 'directory') return <p class="empty">{texts.nothing}</p>
  if (file.kind === 'large') return <p class="empty">{texts.large(sizeText(MAX_EDIT_BYTES))}</p>
  return <p class="empty">{file.kind === 'binary' ? texts.binary : texts.special}</p>
}

function Picture({ image, name }: { readonly image: Blob; readonly name: string }) {
  const [url, setUrl] = useState<string | undefined>(undefined)
  useEffect(() => {
    const made = URL.createObjectURL(image)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [image])
  return <div class="picture">{url !== undefined && <img src={url} alt={texts.image(name)} />}</div>
}
