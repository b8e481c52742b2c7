import { silentLogger } from '@sandyard/kit/logging/create-logger'
import { createContext, type ProxyContext } from '../../src/context.ts'
import type { RouteSource } from '../../src/routes/route.ts'
import type { SecuredSandboxes } from '../../src/signed/sandbox-tokens.ts'
import { createProxyServer, type ProxyServer } from '../../src/server.ts'

export interface RunningProxy extends AsyncDisposable {
  readonly ctx: ProxyContext
  readonly server: ProxyServer
  readonly port: number
  readonly url: string
}

/** A proxy on a free loopback port. */
export async function startProxy(routes: RouteSource & SecuredSandboxes): Promise<RunningProxy> {
  const config = { bind: '127.0.0.1', port: 0, headerHosts: [], drainMs: 0, logLevel: 'silent' }
  const ctx = createContext(config, { routes, log: silentLogger() })
  const server = createProxyServer(ctx)
  const { port } = await server.listen()
  return { ctx, server, port, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => server.close() }
}
