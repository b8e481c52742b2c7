import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Page } from '@sandyard/dashboard-contract/api-shape'

export interface Pages<Item> {
  /** Undefined until the first page is there; it stays while it is read again. */
  readonly items: readonly Item[] | undefined
  readonly failure: Error | undefined
  readonly isLoading: boolean
  /** Reads the next page; undefined: there is none. */
  readonly more: (() => Promise<void>) | undefined
  /** Reads the first page again. */
  readonly reload: () => void
}

interface State<Item> {
  readonly items: readonly Item[] | undefined
  readonly nextCursor: string | null
  readonly failure: Error | undefined
  readonly isLoading: boolean
}

type Read<Item> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<Item>>

/** A list that is read page by page, from the start whenever `key` changes. */
export function usePages<Item>(key: string, read: Read<Item>): Pages<Item> {
  const [state, setState] = useState<State<Item>>({ items: undefined, nextCursor: null, failure: undefined, isLoading: true })
  const [turn, setTurn] = useState(0)
  const [leaving, setLeaving] = useState<AbortSignal | undefined>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    setLeaving(controller.signal)
    setState((former) => ({ ...former, isLoading: true }))
    read(undefined, controller.signal).then(
      ({ data, nextCursor }) => setState({ items: data, nextCursor, failure: undefined, isLoading: false }),
      (err: unknown) => {
        if (!controller.signal.aborted) setState((former) => ({ ...former, failure: err as Error, isLoading: false }))
      },
    )
    return () => controller.abort()
    // `read` is another function in each render; `key` says when it reads something else.
  }, [key, turn])
  const reload = useCallback(() => setTurn((former) => former + 1), [])
  const { nextCursor } = state
  const more = async (): Promise<void> => {
    const signal = leaving ?? new AbortController().signal
    const page = await read(nextCursor ?? undefined, signal)
    if (signal.aborted) return
    setState((former) => ({ ...former, items: [...(former.items ?? []), ...page.data], nextCursor: page.nextCursor }))
  }
  return { items: state.items, failure: state.failure, isLoading: state.isLoading, more: nextCursor === null ? undefined : more, reload }
}
