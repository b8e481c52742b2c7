import type { Registry } from 'prom-client'
import { parseProxyConfig } from '@sandyard/proxy/config'
import { StartFailure } from '../failures/start-failure.ts'
import { explainListenFailure, listenings } from '../network/listening.ts'
import { childEnvironment } from '../process/child-environment.ts'
import type { StartParts } from '../start-all.ts'
import { ProxyEnded } from './proxy-process.ts'
import { ProxySupervisor } from './proxy-supervisor.ts'

const MIB = 1024 ** 2
/** Time in addition to the drain: for the proxy's resets, its database connections and the end of the process. */
const GRACE_MARGIN_MS = 8000

/** Starts the data plane in its own process, so that tenant traffic can neither end nor stall the control plane. */
export async function startProxy(parts: StartParts, databaseUrl: string, registry: Registry): Promise<ProxySupervisor> {
  const { config, environment, log, logChunk, shutdown } = parts
  const { drainMs } = parseProxyConfig(environment)
  const graceMs = drainMs + GRACE_MARGIN_MS
  try {
    const proxy = await ProxySupervisor.start({
      environment: { ...childEnvironment(environment), DATABASE_URL: databaseUrl },
      heapMib: Math.floor(config.proxyHeap / MIB),
      onLog: logChunk,
      log: log.child({ part: 'standalone.proxy' }),
      registry,
      graceMs,
    })
    shutdown.add('proxy', () => proxy[Symbol.asyncDispose](), { timeoutMs: graceMs + GRACE_MARGIN_MS })
    return proxy
  } catch (err) {
    const explained = explainListenFailure(err, listenings(config).proxy)
    if (explained !== err || !(err instanceof ProxyEnded)) throw explained
    throw new StartFailure(`The sandbox proxy could not be started: ${err.message}`, { cause: err })
  }
}
