import { Registry } from 'prom-client'
import type { Database } from '@sandyard/db/database'
import { parseProxyConfig } from '@sandyard/proxy/config'
import { createContext } from '@sandyard/proxy/context'
import { databaseRoutes } from '@sandyard/proxy/database-routes'
import { createProxyServer } from '@sandyard/proxy/server'
import { explainListenFailure, listenings } from './network/listening.ts'
import type { StartParts } from './start-all.ts'

export interface StartedProxy {
  readonly port: number
  readonly registry: Registry
}

export async function startProxy({ config, environment, log, shutdown }: StartParts, database: Database): Promise<StartedProxy> {
  const registry = new Registry()
  const context = createContext(parseProxyConfig(environment), { routes: databaseRoutes(database, log), log, registry })
  const server = createProxyServer(context)
  shutdown.add('proxy', () => server.close())
  try {
    const { port } = await server.listen()
    return { port, registry }
  } catch (err) {
    throw explainListenFailure(err, listenings(config).proxy)
  }
}
