import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

export interface FixedRows {
  readonly count: number
  readonly frame: RefObject<HTMLElement | null>
  readonly rowHeight: number
}

export interface RowsInView {
  /** From, and to without it. */
  readonly from: number
  readonly to: number
  readonly totalHeight: number
  /** Brings a row into view. */
  readonly show: (index: number) => void
}

/** Beyond the view, at both ends. */
const MARGIN = 20

/** Which rows of one height to render. Smaller than use-virtual-rows, which also measures rows and keeps the place when rows come at the start. */
export function useFixedRows({ count, frame, rowHeight }: FixedRows): RowsInView {
  const [view, setView] = useState({ top: 0, height: 1000 })
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return undefined
    const read = (): void => setView({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(read)
    observer.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [frame])
  const show = (index: number): void => {
    const element = frame.current
    if (element === null) return
    const top = index * rowHeight
    if (top < element.scrollTop) element.scrollTo({ top })
    else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTo({ top: top + rowHeight - element.clientHeight })
  }
  return { ...rowsInView(count, rowHeight, view), totalHeight: count * rowHeight, show }
}

export function rowsInView(
  count: number,
  rowHeight: number,
  { top, height }: { readonly top: number; readonly height: number },
): { readonly from: number; readonly to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - MARGIN)
  return { from, to: Math.min(count, Math.ceil((top + height) / rowHeight) + MARGIN) }
}
