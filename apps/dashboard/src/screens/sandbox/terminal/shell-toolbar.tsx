import type { SearchAddon } from '@xterm/addon-search'
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ActionButton } from '../../../parts/action-button.tsx'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'
import '../../../styles/forms.css'

export interface ShellToolbarProps {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly search: SearchAddon | undefined
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
  readonly onClose: () => void
}

const MARKS = {
  matchBackground: '#8a6d00',
  activeMatchBackground: '#c2410c',
  matchOverviewRuler: '#8a6d00',
  activeMatchColorOverviewRuler: '#c2410c',
}

export function ShellToolbar(props: ShellToolbarProps) {
  const { frame, search, size, isRunning, isRecording, onRecord, isFull, onFull, isForScreenReaders, onScreenReaders, onCopy, onEnd } =
    props
  const [query, setQuery] = useState('')
  const [found, setFound] = useState('')
  useEffect(() => {
    const listener = search?.onDidChangeResults(({ resultIndex, resultCount }) => setFound(texts.found(resultIndex + 1, resultCount)))
    return () => listener?.dispose()
  }, [search])
  const find = (text: string, isBack: boolean): void => {
    if (search === undefined) return
    if (text === '') {
      search.clearDecorations()
      setFound('')
    } else if (isBack) search.findPrevious(text, { decorations: MARKS })
    else search.findNext(text, { decorations: MARKS, incremental: text !== query })
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
          find(event.currentTarget.value, true)
          setQuery(event.currentTarget.value)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') find(query, !event.shiftKey)
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
        <ActionButton isSmall done={texts.ended} confirm={{ title: texts.endTitle, text: texts.endText, button: texts.end }} run={onEnd}>
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
