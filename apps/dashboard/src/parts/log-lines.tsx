import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { logLinesTexts as texts } from '../texts/log-lines-texts.ts'
import '../styles/log-lines.css'
import { LogLine } from './log-line.tsx'
import { findRows, matchAfter, rowsOfLevel, type LogLevel, type LogRow } from './log-search.ts'
import { LogToolbar } from './log-toolbar.tsx'
import { useRemembered } from './remembered.ts'
import { useVirtualRows } from './use-virtual-rows.ts'

const ROW_HEIGHT = 20

export interface LogLinesProps {
  /** For screen readers: `Log of the build`. */
  readonly label: string
  /** Oldest first. A new array for each change. */
  readonly rows: readonly LogRow[]
  /** New rows can come: offers to follow them. */
  readonly isLive: boolean
  readonly empty: string
  /** Level, wrap and follow are remembered by this name. */
  readonly name: string
  /** Saves the whole log as a file. */
  readonly onDownload?: (() => Promise<unknown>) | undefined
  /** Loads older rows; absent: there are none. */
  readonly onOlder?: (() => Promise<unknown>) | undefined
}

/** A log: level, search with a count, follow, wrap and download; 100,000 rows stay smooth, since only those in view are elements. */
export function LogLines({ label, rows, isLive, empty, name, onDownload, onOlder }: LogLinesProps) {
  const [level, setLevel] = useRemembered<LogLevel>(`log.${name}.level`, 'debug')
  const [isWrapped, setWrapped] = useRemembered<boolean>(`log.${name}.wrap`, false)
  const [wantsFollow, setWantsFollow] = useRemembered<boolean>(`log.${name}.follow`, true)
  const [query, setQuery] = useState('')
  const [current, setCurrent] = useState(0)
  const [seen, setSeen] = useState<string | undefined>(undefined)
  const frame = useRef<HTMLDivElement | null>(null)
  const lastTopRef = useRef(0)

  const shown = useMemo(() => rowsOfLevel(rows, level), [rows, level])
  const found = useMemo(() => findRows(shown, query), [shown, query])
  const virtualizer = useVirtualRows({
    count: shown.length,
    frame,
    rowHeight: ROW_HEIGHT,
    keyOf: (index) => shown[index]?.key ?? index,
  })
  const isPaused = seen !== undefined
  const isFollowing = isLive && wantsFollow && !isPaused

  const lastKey = shown.at(-1)?.key
  useLayoutEffect(() => {
    if (isFollowing && shown.length > 0) virtualizer.scrollToIndex(shown.length - 1, { align: 'end' })
  }, [isFollowing, lastKey, isWrapped])

  useLayoutEffect(() => {
    virtualizer.measure()
  }, [isWrapped, virtualizer])

  const show = (place: number): void => {
    const index = found[place]
    if (index === undefined) return
    setCurrent(place)
    if (!isPaused) setSeen(lastKey)
    virtualizer.scrollToIndex(index, { align: 'center' })
  }
  useEffect(() => {
    if (query !== '') show(matchAfter(found, virtualizer.range?.startIndex ?? 0))
  }, [query])

  const onScroll = (): void => {
    const element = frame.current
    if (element === null) return
    const isAtEnd = element.scrollHeight - element.clientHeight - element.scrollTop < 2 * ROW_HEIGHT
    if (isAtEnd) setSeen(undefined)
    else if (element.scrollTop < lastTopRef.current - 1 && !isPaused) setSeen(lastKey)
    lastTopRef.current = element.scrollTop
  }
  const fresh = useMemo(() => (seen === undefined ? 0 : shown.length - 1 - lastIndexOf(shown, seen)), [shown, seen])
  const toEnd = (): void => {
    setSeen(undefined)
    virtualizer.scrollToIndex(shown.length - 1, { align: 'end' })
  }

  return (
    <section class="log" aria-label={label}>
      <LogToolbar
        level={level}
        onLevel={setLevel}
        query={query}
        onQuery={setQuery}
        found={found.length}
        current={current}
        onStep={(by) => show((current + by + found.length) % Math.max(1, found.length))}
        isFollowing={isLive ? isFollowing : undefined}
        onFollow={(isOn) => {
          setWantsFollow(isOn)
          if (isOn) toEnd()
        }}
        isWrapped={isWrapped}
        onWrap={setWrapped}
        count={shown.length}
        onDownload={onDownload}
        onOlder={onOlder}
      />
      <div class="log-body">
        <div
          ref={frame}
          class={isWrapped ? 'log-frame log-wrapped' : 'log-frame'}
          role="log"
          aria-live="off"
          aria-label={label}
          // A region that scrolls must be reached by the keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          onScroll={onScroll}
        >
          {shown.length === 0 && <p class="empty">{empty}</p>}
          <div class="virtual-rows" style={{ height: `${virtualizer.getTotalSize()}px` }}>
            {virtualizer.getVirtualItems().map(({ index, key, start }) => {
              const row = shown[index]
              return (
                row !== undefined && (
                  <div
                    key={key}
                    ref={isWrapped ? virtualizer.measureElement : null}
                    data-index={index}
                    class={`log-row log-${row.level}${query !== '' && found[current] === index ? ' log-current' : ''}`}
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    <LogLine row={row} query={query} />
                  </div>
                )
              )
            })}
          </div>
        </div>
        {isLive && isPaused && fresh > 0 && (
          <button type="button" class="button button-primary log-fresh" onClick={toEnd}>
            {texts.fresh(fresh)}
          </button>
        )}
      </div>
    </section>
  )
}

function lastIndexOf(rows: readonly LogRow[], key: string): number {
  for (let index = rows.length - 1; index >= 0; index -= 1) if (rows[index]?.key === key) return index
  return rows.length - 1
}
