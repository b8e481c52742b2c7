import type { Agent } from 'node:http'
import { within } from '@sandyard/kit/async/within'
import type { Daemon } from './daemon.ts'
import { DaemonCallError } from './daemon-call-error.ts'
import { logsPath, parseDaemonLogs, type DaemonLogs, type LogPlace } from './daemon-logs.ts'
import { parseDaemonMetrics, type DaemonMetrics } from './daemon-metrics.ts'
import { visitDaemon } from './visit-daemon.ts'

export interface ReportRequest {
  /** Log entries after this place; all that the daemon has when undefined. */
  readonly place: LogPlace | undefined
  /** The oldest log entries that are read; the next visit continues after them. */
  readonly maxEntries: number
  readonly withMetrics: boolean
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Of `visitDaemon`. */
  readonly kept?: Agent
}

/** What a daemon has answered in time. */
export interface DaemonReports {
  readonly metrics: DaemonMetrics | undefined
  readonly logs: DaemonLogs | undefined
}

/** Reads what a daemon reports of its sandbox. Never throws: what it has not answered in time is undefined. */
export async function readReports(daemon: Daemon, request: ReportRequest): Promise<DaemonReports> {
  const { place, maxEntries, withMetrics, timeoutMs, signal, kept } = request
  let metrics: DaemonMetrics | undefined
  let logs: DaemonLogs | undefined
  const options = { what: 'the daemon', timeoutMs, ...(signal && { signal }) }
  const reading = within(options, (signal) =>
    visitDaemon(daemon, { signal, kept }, async (read) => {
      const answer = await read(logsPath(place, withMetrics)).catch(passOver)
      logs = parseDaemonLogs(answer, maxEntries)
      if (!withMetrics) return
      metrics = parseDaemonMetrics((answer as { readonly metrics?: unknown } | null | undefined)?.metrics)
      // A daemon of an earlier release has them only at a route of their own.
      metrics ??= parseDaemonMetrics(await read('/metrics'))
    }),
  )
  // The sandbox may hang, end, or be frozen at any moment; the caller sees what is missing.
  await reading.catch(() => undefined)
  return { metrics, logs }
}

/** A daemon that refuses one report may have another. */
function passOver(err: unknown): undefined {
  if (!(err instanceof DaemonCallError)) throw err
}
