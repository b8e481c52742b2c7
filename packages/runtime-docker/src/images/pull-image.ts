import type { IncomingMessage } from 'node:http'
import type Docker from 'dockerode'
import { followAnswer } from '../engine/follow-answer.ts'
import type { ImageProgress } from './image-progress.ts'

export interface PullLimits {
  /** Deadline of the registry's first answer. */
  readonly firstAnswerMs: number
  /** How long a pull may make no progress. */
  readonly stallMs: number
}

/** A reachable registry answers within a second; the rest is for slow connections. */
const DEFAULT_LIMITS: PullLimits = { firstAnswerMs: 10_000, stallMs: 60_000 }

/**
 * Pulls an image if its registry can be reached.
 *
 * @returns undefined when the image exists, else the reason of the failure
 */
export async function tryPull(
  docker: Docker,
  image: string,
  options: { readonly progress: ImageProgress; readonly limits?: PullLimits },
): Promise<string | undefined> {
  const { progress, limits = DEFAULT_LIMITS } = options
  const giveUp = new AbortController()
  let timer = setTimeout(() => giveUp.abort(), limits.firstAnswerMs)
  try {
    const stream = await docker.pull(image, { abortSignal: giveUp.signal })
    giveUp.signal.addEventListener('abort', () => (stream as IncomingMessage).destroy(new Error('no progress')))
    await followAnswer(stream, ({ status, id }) => {
      clearTimeout(timer)
      timer = setTimeout(() => giveUp.abort(), limits.stallMs)
      if (status !== undefined) progress.detail(id === undefined ? status : `${id}: ${status}`)
    })
    return undefined
  } catch (err) {
    return giveUp.signal.aborted ? 'its registry did not answer in time' : reasonOf(err as Error)
  } finally {
    clearTimeout(timer)
  }
}

/** The engine wraps the network error in several layers of text; the innermost one is useful to a person. */
function reasonOf({ message }: Error): string {
  if (/no such host|connection refused|network is unreachable|no route to host|timeout|i\/o/i.test(message))
    return 'its registry is not reached from here'
  return message.replace(/^\(HTTP code \d+\)[^-]*- /, '').trim()
}
