import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { Database } from '@sandyard/db/database'
import { databaseUrls } from '@sandyard/db/database-settings'
import { ConfigError, parseConfig } from '@sandyard/kit/config/parse-config'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { findKey } from '@sandyard/kit/secrets/find-key'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { EVENT_LOOP_RESOLUTION_MS } from '@sandyard/kit/metrics/event-loop-resolution'
import { obeyParent, report } from '@sandyard/kit/process/supervision'
import { EGRESS_PROCESS_SETTINGS } from './config.ts'
import { createContext } from './context.ts'
import { followAddress } from './follow-address.ts'
import { drain } from './gateway.ts'
import { serveHealth } from './health-server.ts'
import { startUpkeep } from './upkeep.ts'

/** Time for resets in addition to the drain. */
const CLOSE_MARGIN_MS = 2000

/** The egress gateway as a process: a child of the standalone server, or a separate server on the engine's host. */
async function main(): Promise<void> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'sandyard_egress_', eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS })
  obeyParent(registry)
  const config = parseConfig(EGRESS_PROCESS_SETTINGS, await findKey(process.env))
  const { drainMs, logLevel, databaseConnections: maxConnections } = config
  const log = createLogger({ name: 'sandyard-egress', level: logLevel })
  const shutdown = new Shutdown(log)
  const database = new Database({ ...databaseUrls(config), applicationName: 'sandyard-egress', log, maxConnections })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  // Servers behind header rules, and proxies with TLS, are checked with the authorities that this host trusts too.
  setDefaultCACertificates([...getCACertificates('default'), ...getCACertificates('system'), ...config.extraCa])
  const ctx = createContext(config, { database, log, registry })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shutdown.run().then(() => process.exit()))
  try {
    const health = await serveHealth({ hosts: config.healthBind, port: config.healthPort }, registry)
    shutdown.add('health', () => health[Symbol.asyncDispose]())
    const upkeep = await startUpkeep(ctx)
    shutdown.add('upkeep', () => upkeep[Symbol.asyncDispose]())
    shutdown.add('connections', () => drain(ctx), { timeoutMs: drainMs + CLOSE_MARGIN_MS })
    const listening = followAddress(ctx)
    shutdown.add('sockets', () => listening[Symbol.asyncDispose]())
    shutdown.add('health answers', () => health.stopping())
    log.info(health.address, 'listening')
    await report({ kind: 'listening', port: health.address.port })
  } catch (err) {
    await shutdown.run()
    throw err
  }
}

await main().catch(async (err: unknown) => {
  const { message, code } = err instanceof Error ? (err as NodeJS.ErrnoException) : { message: String(err) }
  process.stderr.write(`sandyard-egress: ${message}\n`)
  await report({ kind: 'failed', message, code })
  process.exit(err instanceof ConfigError ? 78 : 1)
})
