import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { ContainerCreateOptions } from 'dockerode'
import { createContainer } from '../containers/create-container.ts'
import { ensureEmptyImage } from '../engine/empty-image.ts'

export interface Measurement {
  /** Of a container that ends itself after `timeoutMs` and is removed then. */
  readonly options: ContainerCreateOptions
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** For the start of the container. */
const MARGIN_MS = 15_000
const RESULT = /^bytes=(\d{1,16})\r?$/m

/** Runs a container that prints the bytes of a volume. @throws AppError `unavailable`; the abort reason; the engine's errors */
export async function measureVolume(docker: Docker, { options, timeoutMs, signal }: Measurement): Promise<number> {
  signal?.throwIfAborted()
  await ensureEmptyImage(docker)
  const container = await createContainer(docker, { name: `sandyard-volmeasure-${randomId(16)}`, options })
  if (container === undefined) throw notMeasured('a container has its name')
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
      const [, bytes] = RESULT.exec(read) ?? []
      if (bytes === undefined) throw notMeasured(read.slice(0, 1000))
      return Number(bytes)
    } catch (err) {
      throw late.aborted && signal?.aborted !== true ? notMeasured('it did not end in time', err) : err
    } finally {
      ending.removeEventListener('abort', onEnd)
      output.destroy()
    }
  } catch (err) {
    await container.remove({ force: true }).catch(() => undefined)
    throw err
  }
}

function notMeasured(detail: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'The volume could not be measured in time.', { cause: new Error(detail, { cause }) })
}
