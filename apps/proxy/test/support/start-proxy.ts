import { Registry } from 'prom-client'
import { silentLogger, type Logger } from '@sandyard/kit/logging/create-logger'
import { createContext, type ProxyContext } from '../../src/context.ts'
import type { Cap } from '../../src/answers/proxy-error.ts'
import { parseProxyConfig, type ProxyConfig } from '../../src/config.ts'
import type { ProxySource } from '../../src/routes/route.ts'
import { createProxyServer, type ProxyServer } from '../../src/server.ts'

export interface RunningProxy extends AsyncDisposable {
  readonly ctx: ProxyContext
  readonly server: ProxyServer
  readonly port: number
  readonly url: string
  /** How often a cap has refused so far. */
  readonly refusals: (cap: Cap) => Promise<number>
}

/** A proxy on a free loopback port. */
export async function startProxy(
  routes: ProxySource,
  settings: Partial<ProxyConfig> = {},
  log: Logger = silentLogger(),
): Promise<RunningProxy> {
  const config = { ...parseProxyConfig({}), port: 0, drainMs: 0, logLevel: 'silent', halfOpenTimeoutMs: 200, ...settings }
  const registry = new Registry()
  const ctx = createContext(config, { routes, log, registry })
  const server = createProxyServer(ctx)
  const { port } = await server.listen()
  const refusals = async (cap: Cap): Promise<number> => {
    const metric = await registry.getSingleMetric('sandyard_proxy_refused_total')?.get()
    return metric?.values.find(({ labels }) => labels['cap'] === cap)?.value ?? 0
  }
  return { ctx, server, port, url: `http://127.0.0.1:${port}`, refusals, [Symbol.asyncDispose]: () => server.close() }
}
