import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import '../styles/table.css'

/** The frame of a table. While the table is wider than it, the arrow keys scroll it: not every browser gives them to a frame without a tab stop. */
export function TableFrame({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null)
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const { current } = frame
    if (current === null) return undefined
    const observer = new ResizeObserver(() => setScrolled(current.scrollWidth > current.clientWidth))
    for (const element of [current, ...current.children]) observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const stop = isScrolled ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {}
  return (
    <div ref={frame} class="table-frame" {...stop}>
      {children}
    </div>
  )
}
