import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ApiFailure } from './api-failure.ts'

export interface Loaded<Value> {
  /** The last one that was read; it stays while it is read again. */
  readonly value: Value | undefined
  readonly failure: ApiFailure | Error | undefined
  readonly isLoading: boolean
  readonly reload: () => void
}

/** Reads when the component is shown and whenever `key` changes: `useCall(sandboxId, (signal) => call('GET ...', { params, signal }))`. */
export function useCall<Value>(key: string, read: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload'>>({ value: undefined, failure: undefined, isLoading: true })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    setState((former) => ({ ...former, isLoading: true }))
    read(leaving.signal).then(
      (value) => setState({ value, failure: undefined, isLoading: false }),
      (err: unknown) => {
        if (!leaving.signal.aborted) setState((former) => ({ ...former, failure: err as Error, isLoading: false }))
      },
    )
    return () => leaving.abort()
    // `read` is another function in each render; `key` says when it reads something else.
  }, [key, turn])
  const reload = useCallback(() => setTurn((former) => former + 1), [])
  return { ...state, reload }
}
