import type { Listing } from '@sandyard/dashboard-contract/files'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiFailure } from '../../../api/api-failure.ts'
import { call } from '../../../api/call.ts'
import { subscribe } from '../../../live/live-client.ts'
import { changedListing } from './file-tree.ts'

/** The socket has 32 subscriptions for the whole tab; folders that were opened earlier are read again when they are opened again. */
const MAX_WATCHED = 12
const RELIST_MS = 300

export interface Folders {
  readonly listings: ReadonlyMap<string, Listing>
  readonly open: ReadonlySet<string>
  readonly failure: string | undefined
  readonly toggle: (path: string, isOpen: boolean) => void
  readonly refresh: (path: string) => void
}

/** The listings of open folders, kept up to date by watches. */
export function useFolders(sandboxId: string, first: readonly string[]): Folders {
  const [listings, setListings] = useState<ReadonlyMap<string, Listing>>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(first))
  const [failure, setFailure] = useState<string | undefined>(undefined)

  const refresh = useCallback(
    (path: string): void => {
      call('GET /sandboxes/{sandboxId}/files', { params: { sandboxId }, query: { path } }).then(
        (listing) => {
          setListings((former) => new Map(former).set(path, listing))
          setFailure(undefined)
        },
        (err: unknown) => {
          // A folder that has gone is closed; its parent says so.
          setOpen((former) => without(former, path))
          if (!(err instanceof ApiFailure && err.status === 404)) setFailure((err as Error).message)
        },
      )
    },
    [sandboxId],
  )
  const toggle = (path: string, isOpen: boolean): void => {
    setOpen((former) => (isOpen ? new Set([...former, path]) : without(former, path)))
  }

  const watched = [...open].slice(-MAX_WATCHED)
  useWatches(sandboxId, watched, refresh, (path, change) => {
    setListings((former) => {
      const listing = former.get(path)
      const next = listing === undefined ? undefined : change(listing)
      return next === undefined ? former : new Map(former).set(path, next)
    })
  })
  return { listings, open, failure, toggle, refresh }
}

type Patch = (path: string, change: (listing: Listing) => Listing | undefined) => void

/** Reads each folder when it is first watched, and keeps the watches of those that stay. */
function useWatches(sandboxId: string, paths: readonly string[], refresh: (path: string) => void, patch: Patch): void {
  const watchesRef = useRef(new Map<string, () => void>())
  useEffect(() => {
    const watches = watchesRef.current
    for (const [path, stop] of watches) {
      if (paths.includes(path)) continue
      stop()
      watches.delete(path)
    }
    for (const path of paths) {
      if (watches.has(path)) continue
      refresh(path)
      watches.set(path, watch(sandboxId, path, refresh, patch))
    }
  }, [sandboxId, paths.join('\u0000')])
  useEffect(
    () => () => {
      for (const stop of watchesRef.current.values()) stop()
      watchesRef.current.clear()
    },
    [sandboxId],
  )
}

function watch(sandboxId: string, path: string, refresh: (path: string) => void, patch: Patch): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isFirst = true
  const relist = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      refresh(path)
    }, RELIST_MS)
  }
  const leave = subscribe<'watch'>(`watch:${sandboxId}:${path}`, {
    // The first one comes with the folder's own reading; a later one follows a lost connection.
    onSnapshot: () => {
      if (!isFirst) relist()
      isFirst = false
    },
    onPatch: ({ isLost, changes = [] }) => {
      if (isLost === true) relist()
      else
        patch(path, (listing) => {
          const next = changedListing(listing, changes)
          if (next === undefined) relist()
          return next
        })
    },
  })
  return () => {
    clearTimeout(timer)
    leave()
  }
}

function without(paths: ReadonlySet<string>, path: string): ReadonlySet<string> {
  const next = new Set(paths)
  next.delete(path)
  return next
}
