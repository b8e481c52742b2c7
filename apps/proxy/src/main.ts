import { Database } from '@sandyard/db/database'
import { ConfigError, env, parseConfig } from '@sandyard/kit/config/parse-config'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { proxySettings } from './config.ts'
import { createContext } from './context.ts'
import { databaseRoutes } from './routes/database-routes.ts'
import { createProxyServer } from './server.ts'

/** The proxy as a process of its own, beside others on the same database. */
async function main(): Promise<void> {
  const settings = { ...proxySettings, databaseUrl: env.secret('DATABASE_URL', { doc: 'URL of the Postgres database' }) }
  const config = parseConfig(settings, process.env)
  const log = createLogger({ name: 'sandyard-proxy', level: config.logLevel })
  const shutdown = new Shutdown(log)
  const database = new Database({ url: config.databaseUrl.reveal(), applicationName: 'sandyard-proxy', log })
  shutdown.add('database', () => database[Symbol.asyncDispose]())
  const server = createProxyServer(createContext(config, { routes: databaseRoutes(database, log), log }))
  shutdown.add('server', () => server.close())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shutdown.run())
  try {
    log.info(await server.listen(), 'listening')
  } catch (err) {
    await shutdown.run()
    throw err
  }
}

await main().catch((err: unknown) => {
  process.stderr.write(`sandyard-proxy: ${err instanceof Error ? err.message : String(err)}\n`)
  process.exitCode = err instanceof ConfigError ? 78 : 1
})
