/** A function that makes the calls within `gapMs` of the last one as one call at the end of that time. Dispose of it to drop a call that waits. */
export interface Spaced extends Disposable {
  (): void
}

/** @param work must not throw */
export function spaced(gapMs: number, work: () => void): Spaced {
  let lastAt = -Infinity
  let waiting: NodeJS.Timeout | undefined
  const run = (): void => {
    waiting = undefined
    lastAt = performance.now()
    work()
  }
  const call = (): void => {
    if (waiting !== undefined) return
    const waitMs = lastAt + gapMs - performance.now()
    if (waitMs <= 0) run()
    else waiting = setTimeout(run, waitMs).unref()
  }
  return Object.assign(call, {
    [Symbol.dispose]: () => {
      clearTimeout(waiting)
      waiting = undefined
    },
  })
}
