import type { IncomingMessage } from 'node:http'
import type Docker from 'dockerode'
import type { AuthConfig } from 'dockerode'
import { followAnswer, type EngineNews } from '../../engine/follow-answer.ts'
import { checkSize } from '../image-size.ts'
import { registryUnreachable } from './registry-errors.ts'

export interface PullDigestOptions {
  /** The reference of the caller, for messages. */
  readonly text: string
  readonly login: AuthConfig | undefined
  readonly onLine: ((line: string) => void) | undefined
  readonly signal: AbortSignal | undefined
  readonly maxSizeBytes: number
}

/** How long a pull may make no progress. */
const STALL_MS = 120_000

/**
 * Pulls an image by its digest. The pull ends early when the compressed size exceeds the limit. An abort ends the pull on the engine too.
 *
 * @throws AppError `unavailable` for a pull without progress, `failed_precondition` above the limit; the engine's error; the abort reason
 */
export async function pullDigest(docker: Docker, repositoryDigest: string, options: PullDigestOptions): Promise<void> {
  const { text, login, onLine, signal, maxSizeBytes } = options
  const stalled = new AbortController()
  const until = AbortSignal.any([stalled.signal, ...(signal === undefined ? [] : [signal])])
  let timer = setTimeout(() => stalled.abort(), STALL_MS)
  const downloads = new Map<string, number>()
  const onNews = (news: EngineNews): void => {
    clearTimeout(timer)
    timer = setTimeout(() => stalled.abort(), STALL_MS)
    if (news.status === 'Downloading' && news.id !== undefined) {
      downloads.set(news.id, news.progressDetail?.total ?? 0)
      const total = downloads.values().reduce((sum, bytes) => sum + bytes, 0)
      checkSize(`image '${text}'`, total, maxSizeBytes)
    }
    const line = toLine(news)
    if (line !== undefined) onLine?.(line)
  }
  let answer: IncomingMessage | undefined
  try {
    answer = (await docker.pull(repositoryDigest, { authconfig: login, abortSignal: until })) as IncomingMessage
    await followAnswer(answer, onNews)
  } catch (err) {
    signal?.throwIfAborted()
    if (stalled.signal.aborted) throw registryUnreachable(text, err)
    throw err
  } finally {
    clearTimeout(timer)
    answer?.destroy()
  }
}

/** Progress bars, which come many times a second, and the lines with the digest are dropped: the digest is no name for users. */
function toLine({ status, id, progressDetail }: EngineNews): string | undefined {
  const isBar = progressDetail !== undefined && progressDetail.total !== undefined
  if (status === undefined || isBar || id === undefined || id.includes('@')) return undefined
  return `${id}: ${status}`
}
