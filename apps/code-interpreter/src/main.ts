import { ConfigError } from '@sandyard/kit/config/parse-config'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { readConfig } from './config.ts'
import { ContextList } from './contexts/context-list.ts'
import { ignoreCanceledFutures } from './kernels/canceled-futures.ts'
import { JupyterServer } from './kernels/jupyter-server.ts'
import { DEFAULT_LANGUAGE } from './languages/languages.ts'
import { createServer } from './server.ts'

/** The server of the template `code-interpreter-v1`. It listens when the kernel of cells that name no language runs. */
async function main(): Promise<void> {
  ignoreCanceledFutures()
  const config = readConfig(process.env)
  const log = createLogger({ name: 'code-interpreter', level: config.logLevel })
  const shutdown = new Shutdown(log)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void shutdown.run().then(() => process.exit()))
  const jupyter = new JupyterServer({ config: config.jupyterConfig, environment: process.env, log, onLost: () => contexts.loseKernels() })
  shutdown.add('Jupyter server', () => jupyter[Symbol.asyncDispose]())
  const contexts = new ContextList({ directory: config.directory, jupyter, log })
  try {
    const standard = await contexts.getDefault(DEFAULT_LANGUAGE)
    await standard.start()
    const app = createServer({ contexts, daemonUrl: config.daemonUrl, log })
    shutdown.add('server', () => app.close())
    await app.listen({ host: '0.0.0.0', port: config.port })
    log.info({ port: config.port }, 'listening')
  } catch (err) {
    await shutdown.run()
    throw err
  }
}

await main().catch((err: unknown) => {
  process.stderr.write(`code-interpreter: ${err instanceof Error ? err.message : String(err)}\n`)
  process.exit(err instanceof ConfigError ? 78 : 1)
})
