import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { toServers } from '../catalog/to-servers.ts'
import type { GatewayConfig } from '../config.ts'
import { createHttpServer } from '../gateway/create-http-server.ts'
import { createSessionServer } from '../gateway/create-session-server.ts'
import { ExposedNames } from '../gateway/exposed-names.ts'
import { Sessions } from '../gateway/sessions.ts'
import type { User } from '../install/child-process.ts'
import { installServer } from '../install/install-server.ts'
import { StdioServer } from '../servers/stdio-server.ts'
import { filesOf, writeSecret } from './files.ts'

/** What the gateway tells the command that started it. */
export type StartReport = { readonly kind: 'serving' } | { readonly kind: 'failed'; readonly message: string }

/** The command returns after this time also when servers are still being installed: clients wait a minute. */
const PATIENCE_MS = 45_000

interface ServeOptions {
  readonly config: GatewayConfig
  readonly user: User
  readonly environment: NodeJS.ProcessEnv
}

/** The gateway itself. It ends at SIGTERM, and when a server cannot be started before it serves. */
export async function serve({ config, user, environment }: ServeOptions): Promise<void> {
  const log = createLogger({ name: 'mcp-gateway', level: config.logLevel })
  const shutdown = new Shutdown(log)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void shutdown.run().then(() => process.exit()))
  try {
    const files = filesOf(config.directory)
    const token = await readFile(files.token, 'utf8')
    const install = { directory: config.serversDirectory, user, environment }
    const servers: StdioServer[] = toServers(await readFile(files.config, 'utf8')).map((server) => {
      const onChange = (): void => sessions.tellOfChanges()
      return new StdioServer({ name: server.name, install: () => installServer(server, install), log, onChange })
    })
    const names = { tools: new ExposedNames(), prompts: new ExposedNames() }
    const sessions = new Sessions(() => createSessionServer(servers, names))
    const http = createHttpServer({ token, sessions, log })
    http.listen(config.port, '0.0.0.0')
    await once(http, 'listening')
    await writeSecret(files.pid, String(process.pid))
    shutdown.add('servers', () => Promise.all(servers.map((server) => server[Symbol.asyncDispose]())))
    shutdown.add('sessions', () => sessions[Symbol.asyncDispose]())
    shutdown.add('listener', () => {
      http.close()
      http.closeAllConnections()
    })
    const starts = servers.map((server) => ({ server, started: server.start() }))
    await Promise.race([Promise.all(starts.map(({ started }) => started)), delay(PATIENCE_MS, undefined, { ref: false })])
    for (const { server, started } of starts) {
      started.catch((err: unknown) => {
        log.error({ err, server: server.name }, 'server could not be started')
        server.startLater()
      })
    }
    log.info({ port: config.port, servers: servers.map(({ name }) => name) }, 'serving')
    await report({ kind: 'serving' })
  } catch (err) {
    const message = err instanceof Error ? err.message : String(err)
    log.fatal({ err }, 'could not start')
    await report({ kind: 'failed', message })
    await shutdown.run()
    process.exit(1)
  }
}

async function report(message: StartReport): Promise<void> {
  if (process.send === undefined || !process.connected) return
  await new Promise<void>((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
  if (process.connected) process.disconnect()
}
