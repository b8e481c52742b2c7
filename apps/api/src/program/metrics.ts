import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { createMetricsServer } from '@sandyard/kit/http/metrics-server'
import { explainListenFailure, metricsListening } from './listening.ts'
import type { ProgramParts } from './program-parts.ts'

/** Serves one page for the control plane, this process and its child processes. Returns the port. */
export async function startMetrics(
  { config, shutdown }: ProgramParts,
  registries: Registry[],
  children: readonly { metrics(): Promise<string> }[] = [],
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
    throw explainListenFailure(err, metricsListening(config))
  }
  shutdown.add('metrics', () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}
