import { parentPort, workerData } from 'node:worker_threads'
import type { Target } from '../attacks/attack.ts'
import { askLikeNeighbour, type Served } from '../attacks/neighbour.ts'
import { usageOf, type KnownProcess } from './server-processes.ts'

export interface WatchOrder {
  readonly neighbour: Target
  readonly boundMs: number
  readonly processes: readonly KnownProcess[]
}

/** The measurements between `start` and `stop`. */
export interface Watched {
  readonly served: readonly Served[]
  /** MiB by the name of a process. */
  readonly peaks: Readonly<Record<string, number>>
}

const SAMPLE_MS = 100

const { neighbour, boundMs, processes } = workerData as WatchOrder
let stop = new AbortController()
let watching: Promise<Watched> | undefined

parentPort?.on('message', (order: 'start' | 'stop') => {
  if (order === 'start') {
    stop = new AbortController()
    watching = watch(stop.signal)
    return
  }
  stop.abort()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  void watching?.then((seen) => parentPort?.postMessage(seen))
})

async function watch(signal: AbortSignal): Promise<Watched> {
  const peaks: Record<string, number> = {}
  const sample = (): void => {
    for (const known of processes) peaks[known.name] = Math.max(peaks[known.name] ?? 0, usageOf(known)?.mib ?? 0)
  }
  sample()
  const timer = setInterval(sample, SAMPLE_MS)
  try {
    return { served: await askLikeNeighbour(neighbour, boundMs, signal), peaks }
  } finally {
    clearInterval(timer)
  }
}
