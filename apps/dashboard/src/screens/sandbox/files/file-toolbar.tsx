import type { FileEntry } from '@sandyard/dashboard-contract/files'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { paths } from '../../../frame/paths.ts'
import { Ago } from '../../../parts/ago.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { CopyCode } from '../../../parts/copy-code.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Menu } from '../../../parts/menu.tsx'
import { runAction } from '../../../parts/run-action.ts'
import { sizeText } from '../../../parts/size-text.ts'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { mayChange } from '../sandbox-tab.ts'
import { contentUrl } from './file-actions.ts'
import { cleanPath, joinPath, nameOf } from './file-paths.ts'
import { makeFileCode, makeFolderCode, removeCode, renameCode, writeCode } from '../inside-code.ts'
import type { PathQuestion } from './path-dialog.tsx'
import '../../../styles/forms.css'

export interface FileToolbarProps {
  readonly sandboxId: string
  /** Where new files go. */
  readonly folder: string
  readonly path: string | undefined
  readonly entry: FileEntry | undefined
  readonly isChanges: boolean
  readonly onView: (view: 'all' | 'changes') => void
  readonly onOpen: (path: string) => void
  readonly onGone: (path: string) => void
  readonly onMade: (path: string) => void
  readonly onUpload: (files: readonly File[]) => void
  readonly onAsk: (question: PathQuestion) => void
}

export function FileToolbar(props: FileToolbarProps) {
  const { sandboxId, folder, path, entry, isChanges, onView, onOpen, onGone, onMade, onUpload, onAsk } = props
  const [text, setText] = useState(path ?? folder)
  const picker = useRef<HTMLInputElement>(null)
  useEffect(() => setText(path ?? folder), [path, folder])
  const params = { sandboxId }

  const make = (isFolder: boolean): void =>
    onAsk({
      title: isFolder ? texts.newFolder : texts.newFile,
      button: texts.make,
      path: joinPath(folder, ''),
      run: async (made) => {
        if (isFolder) await call('POST /sandboxes/{sandboxId}/files/folder', { params, body: { path: made } })
        else
          await call('PUT /sandboxes/{sandboxId}/files/content', { params, query: { path: made, version: 'none' }, body: new Uint8Array() })
        onMade(made)
      },
      codeOf: (made) => (isFolder ? makeFolderCode : makeFileCode)(sandboxId, made),
    })
  const rename = (from: string): void =>
    onAsk({
      title: texts.rename,
      button: texts.move,
      path: from,
      run: async (to) => {
        await call('POST /sandboxes/{sandboxId}/files/move', { params, body: { from, to } })
        onGone(from)
        onMade(to)
      },
      codeOf: (to) => renameCode(sandboxId, from, to),
    })
  const remove = async (gone: string): Promise<void> => {
    const isDone = await runAction({
      label: texts.remove,
      done: texts.removed,
      confirm: { title: texts.removeTitle(gone), text: texts.removeText, button: texts.removeButton, code: removeCode(sandboxId, gone) },
      run: () => call('POST /sandboxes/{sandboxId}/files/remove', { params, body: { path: gone } }),
    })
    if (isDone) onGone(gone)
  }

  return (
    <div class="toolbar">
      <div class="button-group" role="group" aria-label={texts.views}>
        <button type="button" class="button button-small" aria-pressed={!isChanges} onClick={() => onView('all')}>
          {texts.all}
        </button>
        <button type="button" class="button button-small" aria-pressed={isChanges} onClick={() => onView('changes')}>
          {texts.changed}
        </button>
      </div>
      <form
        class="file-path"
        onSubmit={(event) => {
          event.preventDefault()
          const clean = cleanPath(text)
          if (clean !== undefined) onOpen(clean)
        }}
      >
        <input
          class="input mono"
          data-search
          aria-label={texts.path}
          maxLength={4096}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <CopyButton text={path ?? folder} label={texts.copyPath} />
      </form>
      {entry !== undefined && (
        <span class="muted small nowrap">
          {entry.kind === 'file' && `${sizeText(entry.bytes)} · `}
          <span class="mono">{texts.facts(entry.mode, entry.owner, entry.group)}</span> · <Ago at={entry.modifiedAt} />
        </span>
      )}
      <span class="grow" />
      {entry?.kind === 'file' && (
        <a class="button button-small" href={contentUrl(sandboxId, entry.path)} download={nameOf(entry.path)}>
          <Icon name="download" />
          {texts.download}
        </a>
      )}
      {mayChange() && (
        <>
          <button type="button" class="button button-small" title={texts.drop(folder)} onClick={() => picker.current?.click()}>
            <Icon name="upload" />
            {texts.upload}
          </button>
          <CopyCode code={writeCode(sandboxId, joinPath(folder, 'file'))} label={texts.upload} isSmall isIcon />
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-label={texts.upload}
            onChange={(event) => {
              onUpload([...(event.currentTarget.files ?? [])])
              event.currentTarget.value = ''
            }}
          />
          <Menu label={texts.tree} button={<Icon name="more" />} buttonClass="button button-small button-icon">
            <button type="button" onClick={() => make(false)}>
              <Icon name="file" />
              {texts.newFile}
            </button>
            <button type="button" onClick={() => make(true)}>
              <Icon name="folder" />
              {texts.newFolder}
            </button>
            <a href={`${paths.sandbox(sandboxId, 'terminal')}?cwd=${encodeURIComponent(folder)}`}>
              <Icon name="terminal" />
              {texts.terminal}
            </a>
            {path !== undefined && path !== '/' && (
              <>
                <hr />
                <button type="button" onClick={() => rename(path)}>
                  <Icon name="edit" />
                  {texts.rename}
                </button>
                <button type="button" class="menu-danger" onClick={() => void remove(path)}>
                  <Icon name="trash" />
                  {texts.remove}
                </button>
              </>
            )}
          </Menu>
        </>
      )}
    </div>
  )
}
