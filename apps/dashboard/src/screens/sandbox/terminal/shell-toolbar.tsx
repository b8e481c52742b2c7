import type { SearchAddon } from '@xterm/addon-search'
import type { RefObject } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ActionButton, type ActionCode } from '../../../parts/action-button.tsx'
import { toast } from '../../../parts/toasts.tsx'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'
import '../../../styles/forms.css'

export interface ShellToolbarProps {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly search: (() => Promise<SearchAddon>) | undefined
  readonly size: { readonly cols: number; readonly rows: number }
  readonly isRunning: boolean
  readonly isRecording: boolean
  readonly onRecord: (isOn: boolean) => void
  readonly isFull: boolean
  readonly onFull: (isFull: boolean) => void
  readonly isForScreenReaders: boolean
  readonly onScreenReaders: (isOn: boolean) => void
  readonly onCopy: () => Promise<unknown>
  readonly onEnd: () => Promise<unknown>
  readonly endCode: ActionCode | undefined
  readonly onClose: () => void
}

const MARKS = {
  matchBackground: '#8a6d00',
  activeMatchBackground: '#c2410c',
  matchOverviewRuler: '#8a6d00',
  activeMatchColorOverviewRuler: '#c2410c',
}

export function ShellToolbar(props: ShellToolbarProps) {
  const {
    frame,
    search,
    size,
    isRunning,
    isRecording,
    onRecord,
    isFull,
    onFull,
    isForScreenReaders,
    onScreenReaders,
    onCopy,
    onEnd,
    endCode,
  } = props
  const [query, setQuery] = useState('')
  const [found, setFound] = useState('')
  const listenedRef = useRef<SearchAddon | undefined>(undefined)
  const find = async (text: string, isBack: boolean): Promise<void> => {
    if (search === undefined) return
    const addon = await search()
    if (listenedRef.current !== addon) {
      listenedRef.current = addon
      addon.onDidChangeResults(({ resultIndex, resultCount }) => setFound(texts.found(resultIndex + 1, resultCount)))
    }
    if (text === '') {
      addon.clearDecorations()
      setFound('')
    } else if (isBack) addon.findPrevious(text, { decorations: MARKS })
    else addon.findNext(text, { decorations: MARKS, incremental: text !== query })
  }
  const tryFind = (text: string, isBack: boolean): void => {
    find(text, isBack).catch((err: unknown) => toast('failed', (err as Error).message))
  }
  return (
    <div ref={frame} class="toolbar shell-toolbar" role="toolbar" aria-label={texts.shells}>
      <input
        type="search"
        class="input shell-search"
        data-search
        placeholder={texts.search}
        aria-label={texts.search}
        value={query}
        onInput={(event) => {
          tryFind(event.currentTarget.value, true)
          setQuery(event.currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') tryFind(query, !event.shiftKey)
        }}
      />
      <span class="log-found" role="status">
        {query === '' ? '' : found}
      </span>
      <button type="button" class="button button-small" title={texts.leave} onClick={() => void onCopy()}>
        {texts.copy}
      </button>
      {isRunning && (
        <label class="check">
          <input type="checkbox" checked={isRecording} onChange={(event) => onRecord(event.currentTarget.checked)} />
          {isRecording ? <span class="bad">{texts.isRecording}</span> : texts.recording}
        </label>
      )}
      <label class="check">
        <input type="checkbox" checked={isForScreenReaders} onChange={(event) => onScreenReaders(event.currentTarget.checked)} />
        {texts.screenReader}
      </label>
      <span class="log-count" title={texts.leave}>
        {texts.size(size.cols, size.rows)}
      </span>
      <button type="button" class="button button-small" aria-pressed={isFull} onClick={() => onFull(!isFull)}>
        {isFull ? texts.smallHeight : texts.fullHeight}
      </button>
      {isRunning ? (
        <ActionButton
          isSmall
          done={texts.ended}
          code={endCode}
          confirm={{ title: texts.endTitle, text: texts.endText, button: texts.end }}
          run={onEnd}
        >
          {texts.end}
        </ActionButton>
      ) : (
        <button type="button" class="button button-small" onClick={props.onClose}>
          {texts.close}
        </button>
      )}
    </div>
  )
}
