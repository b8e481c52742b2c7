import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { createMetricsServer } from '@sandyard/api/metrics-server'
import { explainListenFailure, listenings } from './network/listening.ts'
import type { StartParts } from './start-all.ts'

/** One page for the metrics of all parts. Returns the port. */
export async function startMetrics({ config, shutdown }: StartParts, registries: Registry[]): Promise<number> {
  const server = createMetricsServer(Registry.merge(registries))
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
