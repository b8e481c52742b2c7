import { localUrl } from '@sandyard/api/program/listening'
import type { CliParts } from '../cli-parts.ts'

export interface ServerStatus {
  readonly url: string
  readonly reachable: boolean
  readonly healthy: boolean
  readonly ready: boolean
  /** Whether it finishes its requests and stops. */
  readonly draining: boolean | undefined
  /** Whether they answer the server; undefined when it was not asked. */
  readonly database: boolean | undefined
  readonly engine: boolean | undefined
  readonly version: string | undefined
  /** Of its process; undefined without its metrics page on this machine. */
  readonly uptimeSeconds: number | undefined
}

type OrProblem = <T>(work: () => Promise<T>) => Promise<T | undefined>

interface Readiness {
  readonly ready?: boolean
  readonly database?: boolean
  readonly runtime?: boolean
  readonly draining?: boolean
}

const TIMEOUT_MS = 5000
const METRICS_TIMEOUT_MS = 3000

export async function readServer(parts: CliParts, orProblem: OrProblem): Promise<ServerStatus> {
  const { api, connection } = parts
  const health = await orProblem(() => api.get('/health', TIMEOUT_MS))
  const answer = health && (await orProblem(() => api.get('/ready', TIMEOUT_MS)))
  const readiness = (answer?.body ?? {}) as Readiness
  const described = health && (await orProblem(() => api.get('/openapi.json', TIMEOUT_MS)))
  return {
    url: connection.apiUrl,
    reachable: health !== undefined,
    healthy: health?.status === 200,
    ready: readiness.ready === true,
    draining: readiness.draining,
    database: readiness.database,
    engine: readiness.runtime,
    version: (described?.body as { info?: { version?: string } } | undefined)?.info?.version,
    uptimeSeconds: health === undefined ? undefined : await readUptime(parts),
  }
}

/** From the metrics page, which only a server on this machine has. */
async function readUptime({ config, signal }: CliParts): Promise<number | undefined> {
  if (config.apiUrl !== undefined) return undefined
  try {
    const url = `${localUrl(config.bind, config.metricsPort)}/metrics`
    const page = await (await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(METRICS_TIMEOUT_MS)]) })).text()
    const startedAt = /^process_start_time_seconds (\d+)/m.exec(page)?.[1]
    return startedAt === undefined ? undefined : Math.floor(Date.now() / 1000) - Number(startedAt)
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}
