import { logLinesTexts as texts } from '../texts/log-lines-texts.ts'
import { ActionButton } from './action-button.tsx'
import { LOG_LEVELS, type LogLevel } from './log-search.ts'
import '../styles/forms.css'

export interface LogToolbarProps {
  readonly level: LogLevel
  readonly onLevel: (level: LogLevel) => void
  readonly query: string
  readonly onQuery: (query: string) => void
  readonly found: number
  /** From 0. */
  readonly current: number
  readonly onStep: (by: 1 | -1) => void
  /** Undefined: nothing comes any more. */
  readonly isFollowing: boolean | undefined
  readonly onFollow: (isOn: boolean) => void
  readonly isWrapped: boolean
  readonly onWrap: (isOn: boolean) => void
  readonly count: number
  readonly onDownload: (() => Promise<unknown>) | undefined
  readonly onOlder: (() => Promise<unknown>) | undefined
}

export function LogToolbar(props: LogToolbarProps) {
  const { level, onLevel, query, onQuery, found, current, onStep, isFollowing, onFollow, isWrapped, onWrap, count, onDownload, onOlder } =
    props
  return (
    <div class="toolbar log-toolbar">
      <select class="input" aria-label={texts.level} value={level} onChange={(event) => onLevel(event.currentTarget.value as LogLevel)}>
        {LOG_LEVELS.map((name) => (
          <option key={name} value={name}>
            {texts.levels[name]}
          </option>
        ))}
      </select>
      <span class="log-search">
        <input
          type="search"
          data-search
          class="input"
          placeholder={texts.search}
          aria-label={texts.search}
          maxLength={256}
          value={query}
          onInput={(event) => onQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1)
          }}
        />
        <span class="log-found" role="status">
          {query === '' ? '' : found === 0 ? texts.noMatch : texts.matches(Math.min(current + 1, found), found)}
        </span>
        <button type="button" class="button button-small" disabled={found === 0} aria-label={texts.former} onClick={() => onStep(-1)}>
          ↑
        </button>
        <button type="button" class="button button-small" disabled={found === 0} aria-label={texts.next} onClick={() => onStep(1)}>
          ↓
        </button>
      </span>
      {isFollowing !== undefined && (
        <label class="check">
          <input type="checkbox" checked={isFollowing} onChange={(event) => onFollow(event.currentTarget.checked)} />
          {texts.follow}
        </label>
      )}
      <label class="check">
        <input type="checkbox" checked={isWrapped} onChange={(event) => onWrap(event.currentTarget.checked)} />
        {texts.wrap}
      </label>
      <span class="log-count">{texts.shown(count)}</span>
      {onOlder !== undefined && (
        <ActionButton isSmall run={onOlder}>
          {texts.older}
        </ActionButton>
      )}
      {onDownload !== undefined && (
        <ActionButton isSmall run={onDownload}>
          {texts.download}
        </ActionButton>
      )}
    </div>
  )
}
