import { collectDefaultMetrics, Registry } from 'prom-client'
import { Database } from '@sandyard/db/database'
import { databaseUrls } from '@sandyard/db/database-settings'
import { ConfigError, parseConfig } from '@sandyard/kit/config/parse-config'
import { listenForMetrics } from '@sandyard/kit/http/metrics-server'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { RELEASE } from '@sandyard/kit/config/release'
import { EVENT_LOOP_RESOLUTION_MS } from '@sandyard/kit/metrics/event-loop-resolution'
import { openTracing } from '@sandyard/kit/tracing/open-tracing'
import { readTracing } from '@sandyard/kit/tracing/tracing-config'
import { followSetting, obeyParent, report } from '@sandyard/kit/process/supervision'
import { PROXY_PROCESS_SETTINGS } from './config.ts'
import { createContext } from './context.ts'
import { databaseRoutes } from './routes/database-routes.ts'
import { createProxyServer } from './server.ts'

/** Time for resets and closes in addition to the drain. */
const CLOSE_MARGIN_MS = 5000

/** The proxy as a process: a child of the standalone server, or a separate server among others on the same database. */
async function main(): Promise<void> {
  const registry = new Registry()
  // With a prefix, because the metrics page of the standalone server contains those of the control plane too.
  collectDefaultMetrics({ register: registry, prefix: 'sandyard_proxy_', eventLoopMonitoringPrecision: EVENT_LOOP_RESOLUTION_MS })
  obeyParent(registry)
  const config = parseConfig(PROXY_PROCESS_SETTINGS, process.env)
  const tracing = readTracing(config)
  const { drainMs, logLevel, databaseConnections: maxConnections } = config
  const log = createLogger({ name: 'sandyard-proxy', level: logLevel })
  const shutdown = new Shutdown(log)
  shutdown.add('tracing', await openTracing(tracing, { service: 'sandyard-proxy', version: RELEASE, log }))
  const database = new Database({ ...databaseUrls(config), applicationName: 'sandyard-proxy', log, maxConnections })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  const context = createContext(config, { routes: databaseRoutes(database, log), log, registry })
  followSetting(PROXY_PROCESS_SETTINGS.apiInternalUrl.env, (url) => context.wakeApi.moveTo(url))
  const server = createProxyServer(context)
  shutdown.add('server', () => server.close(), { timeoutMs: drainMs + CLOSE_MARGIN_MS })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shutdown.run().then(() => process.exit()))
  try {
    if (config.metricsPort !== undefined) {
      const metrics = await listenForMetrics(registry, { host: config.metricsBind, port: config.metricsPort })
      shutdown.add('metrics', () => metrics[Symbol.asyncDispose]())
      log.info(metrics.address, 'the metrics are served')
    }
    const address = await server.listen()
    log.info(address, 'listening')
    await report({ kind: 'listening', port: address.port })
  } catch (err) {
    await shutdown.run()
    throw err
  }
}

await main().catch(async (err: unknown) => {
  const { message, code } = err instanceof Error ? (err as NodeJS.ErrnoException) : { message: String(err) }
  process.stderr.write(`sandyard-proxy: ${message}\n`)
  await report({ kind: 'failed', message, code })
  process.exit(err instanceof ConfigError ? 78 : 1)
})
