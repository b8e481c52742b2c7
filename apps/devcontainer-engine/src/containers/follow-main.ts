import type { ChildProcess } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'

const POLL_MS = 250

/** Copies the output of the main process until it ends, or until nobody is left to read it. The container outlives its caller. */
export async function followMain({ child, log }: { child: ChildProcess; log: string }): Promise<void> {
  const parent = process.ppid
  let end: number | string | undefined
  child.once('exit', (code, signal) => (end = code ?? signal ?? 1))
  child.unref()
  let position = 0
  while (process.ppid === parent) {
    const hasEnded = end !== undefined
    const { size } = await stat(log)
    if (size > position) {
      await pipeline(createReadStream(log, { start: position, end: size - 1 }), process.stdout, { end: false })
      position = size
    } else if (hasEnded) break
    else await delay(POLL_MS)
  }
  if (end !== undefined && end !== 0) throw new AppError('failed_precondition', `The main process of the dev container ended with ${end}`)
}
