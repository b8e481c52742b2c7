import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualizerOptions } from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

export interface VirtualRows {
  readonly count: number
  readonly frame: RefObject<HTMLElement | null>
  /** Of a row that was not measured. */
  readonly rowHeight: number
  readonly keyOf: (index: number) => string | number
}

/** Renders only the rows in view. Rows may be added at both ends: what is in view stays in view. */
export function useVirtualRows({ count, frame, rowHeight, keyOf }: VirtualRows): Virtualizer<HTMLElement, HTMLElement> {
  const [, render] = useReducer((turn: number) => turn + 1, 0)
  const options: VirtualizerOptions<HTMLElement, HTMLElement> = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    overscan: 20,
    anchorTo: 'end',
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(0),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  // The names of the library's own life cycle; its adapters for frameworks call the same two.
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}
