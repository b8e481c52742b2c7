import type { FileEntry } from '@sandyard/dashboard-contract/files'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiFailure } from '../../../api/api-failure.ts'
import { call } from '../../../api/call.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { toast } from '../../../parts/toasts.tsx'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { mayChange } from '../sandbox-tab.ts'
import { Editor } from './editor.tsx'
import { conflictOf } from './file-tree.ts'
import { openFile, readOriginal, type OpenFile } from './open-file.ts'
import { writeCode } from '../inside-code.ts'

interface Props {
  readonly sandboxId: string
  readonly entry: FileEntry
  readonly text: string
  /** As the folder lists it now; null: not known. Undefined: it is gone. */
  readonly listed: FileEntry | null | undefined
  readonly onReload: () => void
  readonly onDirty: (isDirty: boolean) => void
  readonly startsWithDiff: boolean
}

export function TextFile({ sandboxId, entry, text, listed, onReload, onDirty, startsWithDiff }: Props) {
  const [shown, setShown] = useState({ text, original: undefined as string | undefined })
  const [version, setVersion] = useState(entry.version)
  const [isDirty, setDirty] = useState(false)
  const [isConflict, setConflict] = useState(false)
  const readRef = useRef<() => string>(() => text)
  const { path } = entry

  const markDirty = (value: boolean): void => {
    setDirty(value)
    onDirty(value)
  }
  const state = listed === null ? 'none' : conflictOf(version, listed, isDirty)
  useEffect(() => {
    if (state === 'reload') onReload()
  }, [state])

  const put = async (expected: string | undefined): Promise<void> => {
    const sent = readRef.current()
    const written = await call('PUT /sandboxes/{sandboxId}/files/content', {
      params: { sandboxId },
      query: expected === undefined ? { path } : { path, version: expected },
      body: new TextEncoder().encode(sent),
    })
    saved(written, sent)
  }
  const saved = (written: FileEntry, content: string): void => {
    setVersion(written.version)
    // What was typed meanwhile is not saved.
    markDirty(readRef.current() !== content)
    setConflict(false)
    toast('done', texts.saved)
  }
  const readTheirs = (): Promise<OpenFile> => openFile(sandboxId, path, AbortSignal.timeout(30_000))
  const save = async (): Promise<void> => {
    try {
      await put(state === 'removed' ? 'none' : version)
    } catch (err) {
      if (!(err instanceof ApiFailure && err.status === 412)) throw err
      // An earlier try may have written it, whose answer was lost.
      const theirs = await readTheirs().catch(() => undefined)
      if (theirs?.kind === 'text' && theirs.text === readRef.current()) saved(theirs.entry, theirs.text)
      else setConflict(true)
    }
  }
  const compare = async (): Promise<void> => {
    const theirs = await readTheirs()
    setShown({ text: readRef.current(), original: theirs.kind === 'text' ? theirs.text : '' })
    setVersion(theirs.entry.version)
    setConflict(false)
    toast('done', texts.theirs)
  }
  const diff = async (): Promise<void> => {
    if (shown.original !== undefined) setShown({ text: readRef.current(), original: undefined })
    else setShown({ text: readRef.current(), original: (await readOriginal(sandboxId, path)) ?? '' })
  }
  useEffect(() => {
    if (startsWithDiff) diff().catch((err: unknown) => toast('failed', (err as Error).message))
  }, [])

  return (
    <>
      <div class="toolbar">
        {mayChange() && (
          <ActionButton
            isRepeatable
            kind="primary"
            isSmall
            disabled={!isDirty && state !== 'removed'}
            code={writeCode(sandboxId, path)}
            run={save}
          >
            {texts.save}
          </ActionButton>
        )}
        {isDirty && <span class="warn small">{texts.unsaved}</span>}
        <ActionButton isSmall run={diff}>
          {shown.original === undefined ? texts.diff : texts.edit}
        </ActionButton>
      </div>
      {(state === 'changed' || state === 'removed') && (
        <p class="notice notice-warn" role="status">
          <span class="grow">{state === 'changed' ? texts.changedBelow : texts.removedBelow}</span>
          {state === 'changed' && (
            <>
              <ActionButton isSmall run={compare}>
                {texts.showTheirs}
              </ActionButton>
              <button type="button" class="button button-small" onClick={onReload}>
                {texts.takeTheirs}
              </button>
            </>
          )}
        </p>
      )}
      <Editor
        path={path}
        text={shown.text}
        original={shown.original}
        isReadOnly={!mayChange()}
        onChange={(read) => {
          readRef.current = read
          if (!isDirty) markDirty(true)
        }}
        onSave={() => void save().catch((err: unknown) => toast('failed', (err as Error).message))}
      />
      {isConflict && (
        <Dialog title={texts.conflictTitle} onClose={() => setConflict(false)}>
          <p>{texts.conflictText}</p>
          <div class="dialog-buttons">
            <button type="button" class="button" onClick={() => setConflict(false)}>
              {texts.keepEditing}
            </button>
            <ActionButton run={compare}>{texts.showTheirs}</ActionButton>
            <ActionButton kind="danger" run={() => put(undefined)}>
              {texts.overwrite}
            </ActionButton>
          </div>
        </Dialog>
      )}
    </>
  )
}
