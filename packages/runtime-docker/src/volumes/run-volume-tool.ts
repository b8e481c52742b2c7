import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'
import { createContainer } from '../containers/create-container.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { ensureEmptyImage } from '../engine/empty-image.ts'

export interface VolumeTool {
  /** Of a container that does one thing, prints its result, ends itself and is removed then. */
  readonly options: ContainerCreateOptions
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** For the start of the container. */
const MARGIN_MS = 15_000

/**
 * Runs a container that does something with a volume.
 *
 * @param result what it prints on a line when it succeeds
 * @returns the match
 * @throws AppError `unavailable`; the abort reason; the engine's errors
 */
export async function runVolumeTool(docker: Docker, result: RegExp, { options, timeoutMs, signal }: VolumeTool): Promise<RegExpExecArray> {
  signal?.throwIfAborted()
  await ensureEmptyImage(docker)
  const container = await createContainer(docker, { name: `sandyard-voltool-${randomId(16)}`, options })
  if (container === undefined) throw notDone('a container has its name')
  try {
    const output = (await container.attach({ stream: true, stdout: true, stderr: true, hijack: true })) as Duplex
    const late = AbortSignal.timeout(timeoutMs + MARGIN_MS)
    const ending = signal === undefined ? late : AbortSignal.any([signal, late])
    const onEnd = (): void => void output.destroy(ending.reason as Error)
    ending.addEventListener('abort', onEnd, { once: true })
    if (ending.aborted) onEnd()
    try {
      // Reading starts before the container, so that a stream error has a listener.
      const [read] = await Promise.all([text(output), container.start()])
      const found = result.exec(read)
      if (found === null) throw notDone(read.slice(0, 1000))
      return found
    } catch (err) {
      throw late.aborted && signal?.aborted !== true ? notDone('it did not end in time', err) : err
    } finally {
      ending.removeEventListener('abort', onEnd)
      output.destroy()
    }
  } finally {
    // Nothing has the volume any more when this returns. One that cannot be removed now removes itself at its end.
    await removeContainer(docker, container.id).catch(() => undefined)
  }
}

function notDone(detail: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'The files of the volume could not be read or removed in time.', {
    cause: new Error(detail, { cause }),
  })
}
