import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { createMetricsServer } from '@sandyard/api/metrics-server'
import { explainListenFailure, listenings } from './network/listening.ts'
import type { ProxySupervisor } from './proxy/proxy-supervisor.ts'
import type { StartParts } from './start-all.ts'

/** Serves one page for the control plane, this process and the proxy. Returns the port. */
export async function startMetrics({ config, shutdown }: StartParts, registries: Registry[], proxy: ProxySupervisor): Promise<number> {
  const own = Registry.merge(registries)
  const server = createMetricsServer({
    contentType: own.contentType,
    async metrics() {
      // The proxy first, because one of our own metrics says whether it answered.
      const ofProxy = await proxy.metrics()
      return `${await own.metrics()}\n${ofProxy}`
    },
  })
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(config.metricsPort, config.bind, resolve))
  } catch (err) {
    throw explainListenFailure(err, listenings(config).metrics)
  }
  shutdown.add('metrics', () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}
