import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { SandboxCounts, SandboxList, SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import { call } from '../../api/call.ts'
import { queryText } from '../../api/send.ts'
import { liveTrouble } from '../../live/live-state.ts'
import { addTopic } from '../../live/topic-registry.ts'
import { applyPatch, compareBy, fromSnapshot, NO_ROWS, settle, type ListRows } from './list-rows.ts'
import { toQuery, viewText, type ListView } from './list-view.ts'

/** The first page is live; the next ones are as they were when they were read. */
const FIRST_PAGE = 200
/** Without a live socket. */
const POLL_MS = 10_000

export interface SandboxesList {
  /** Undefined until the first answer. */
  readonly rows: ListRows | undefined
  readonly later: readonly SandboxRow[]
  readonly counts: SandboxCounts | undefined
  readonly matching: number
  readonly failure: { readonly message: string } | undefined
  readonly hasMore: boolean
  readonly loadMore: () => Promise<void>
  /** Nothing moves while `isHeld`. */
  readonly hold: (isHeld: boolean) => void
  readonly showWaiting: () => void
}

interface State {
  readonly rows: ListRows | undefined
  readonly later: readonly SandboxRow[]
  readonly counts: SandboxCounts | undefined
  readonly matching: number
  readonly cursor: string | null
  readonly failure: { readonly message: string } | undefined
}

const EMPTY: State = { rows: undefined, later: [], counts: undefined, matching: 0, cursor: null, failure: undefined }

export function useList(view: ListView): SandboxesList {
  const key = viewText(view)
  const query = useMemo(() => toQuery(view, Date.now(), FIRST_PAGE), [key])
  const compare = useMemo(() => compareBy(view), [view.sort, view.order])
  const [state, setState] = useState<State>(EMPTY)
  const isHeldRef = useRef(false)
  const showWaiting = useCallback(
    () => setState((former) => (former.rows === undefined ? former : { ...former, rows: settle(former.rows, compare) })),
    [compare],
  )

  useEffect(() => {
    // The former rows stay until the new ones are there, so that typing in the search does not flicker; but nothing of them is kept in place.
    let isFirst = true
    let isRefused = false
    const leaving = new AbortController()
    const show = (list: SandboxList): void => {
      const wasFirst = isFirst
      isFirst = false
      setState((former) => ({
        rows: fromSnapshot(former.rows ?? NO_ROWS, list.data, !wasFirst && isHeldRef.current),
        later: wasFirst ? [] : former.later,
        counts: list.counts,
        matching: list.matching,
        cursor: wasFirst || former.later.length === 0 ? list.nextCursor : former.cursor,
        failure: undefined,
      }))
    }
    const read = (): void => {
      call('GET /sandboxes', { query, signal: leaving.signal }).then(show, (failure: Error) => {
        if (!leaving.signal.aborted) setState((former) => ({ ...former, failure }))
      })
    }
    const leave = addTopic(`sandboxes${queryText(query)}`, {
      onSnapshot: show,
      onPatch: (patch: Parameters<typeof applyPatch>[1]) =>
        setState((former) => ({
          ...former,
          rows: applyPatch(former.rows ?? NO_ROWS, patch, { isHeld: isHeldRef.current, compare }),
          counts: patch.counts ?? former.counts,
          matching: patch.matching ?? former.matching,
        })),
      onError: () => {
        isRefused = true
        read()
      },
    })
    const poll = setInterval(() => {
      if ((isRefused || liveTrouble.value === 'noUpgrade') && document.visibilityState === 'visible') read()
    }, POLL_MS)
    return () => {
      leave()
      leaving.abort()
      clearInterval(poll)
    }
  }, [query, compare])

  const hold = useCallback(
    (held: boolean) => {
      isHeldRef.current = held
      if (!held) showWaiting()
    },
    [showWaiting],
  )
  const loadMore = async (): Promise<void> => {
    if (state.cursor === null) return
    const page = await call('GET /sandboxes', { query: { ...query, cursor: state.cursor } })
    setState((former) => ({ ...former, later: [...former.later, ...page.data], cursor: page.nextCursor }))
  }
  const { rows, later, counts, matching, failure, cursor } = state
  return { rows, later, counts, matching, failure, hasMore: cursor !== null, loadMore, hold, showWaiting }
}
