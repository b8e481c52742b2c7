import { ApiFailure } from '../api/api-failure.ts'
import { backOffMs } from '../live/back-off.ts'
import { liveState } from '../live/live-state.ts'
import { frameTexts } from '../texts/frame-texts.ts'
import { ask, type Question } from './ask.tsx'
import { toast } from './toasts.tsx'

export interface Action {
  /** For people: "Kill i3k9". */
  readonly label: string
  /** What is said when it was done; undefined: nothing. */
  readonly done?: string | undefined
  readonly confirm?: Question | undefined
  /** Doing it twice is as doing it once: without an answer it is tried again by itself when the server is back. */
  readonly isRepeatable?: boolean | undefined
  readonly run: () => Promise<unknown>
}

/** Runs an action and says how it ended: a click is never lost without a word. Returns whether it was done. */
export async function runAction(action: Action): Promise<boolean> {
  if (action.confirm !== undefined && !(await ask(action.confirm))) return false
  try {
    await action.run()
  } catch (err) {
    return isUnanswered(err) ? withoutAnswer(action) : failed(action, err as Error)
  }
  if (action.done !== undefined) toast('done', action.done)
  return true
}

function isUnanswered(err: unknown): boolean {
  return err instanceof ApiFailure && err.status === 0
}

function failed({ label }: Action, { message }: Error): false {
  toast('failed', label === '' ? message : `${label}: ${message}`)
  return false
}

async function withoutAnswer(action: Action): Promise<boolean> {
  if (action.isRepeatable !== true) {
    toast('failed', frameTexts.noAnswer(action.label), {
      label: frameTexts.tryAgain,
      run: () => void runAction({ ...action, confirm: undefined }),
    })
    return false
  }
  const given = new AbortController()
  const close = toast('running', frameTexts.waitsForServer(action.label), { label: frameTexts.giveUp, run: () => given.abort() })
  for (let attempt = 0; !given.signal.aborted; attempt += 1) {
    await untilServerMayBeBack(backOffMs(attempt), given.signal)
    if (given.signal.aborted) return false
    try {
      await action.run()
    } catch (err) {
      if (isUnanswered(err)) continue
      close()
      return failed(action, err as Error)
    }
    close()
    toast('done', action.done ?? frameTexts.doneNow(action.label))
    return true
  }
  return false
}

/** The live socket opens, the network is back, or the pause is over. */
function untilServerMayBeBack(pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = liveState.subscribe((state) => {
      if (state === 'open') queueMicrotask(end)
    })
    const timer = setTimeout(end, pauseMs)
    addEventListener('online', end)
    signal.addEventListener('abort', end)
    function end(): void {
      stop()
      clearTimeout(timer)
      removeEventListener('online', end)
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
