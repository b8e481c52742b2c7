import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { createMetricsServer } from '@sandyard/kit/http/metrics-server'
import { explainListenFailure, listenings } from './network/listening.ts'
import type { ChildSupervisor } from './children/child-supervisor.ts'
import type { StartParts } from './start-all.ts'

/** Serves one page for the control plane, this process and its child processes. Returns the port. */
export async function startMetrics(
  { config, shutdown }: StartParts,
  registries: Registry[],
  children: readonly ChildSupervisor[],
): Promise<number> {
  const own = Registry.merge(registries)
  const server = createMetricsServer({
    contentType: own.contentType,
    async metrics() {
      // The children first, because some of our own metrics say whether they answered.
      const pages = await Promise.all(children.map((child) => child.metrics()))
      return [await own.metrics(), ...pages].join('\n')
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
