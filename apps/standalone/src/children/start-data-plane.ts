import type { Registry } from 'prom-client'
import type { DatabaseUrls } from '@sandyard/db/database'
import { parseEgressConfig } from '@sandyard/egress/config'
import { withoutCredentials } from '@sandyard/kit/outbound/http-proxy'
import { OUTBOUND_SETTINGS } from '@sandyard/kit/outbound/outbound'
import { keyVariables } from '@sandyard/kit/secrets/find-key'
import { parseProxyConfig } from '@sandyard/proxy/config'
import { listenings } from '../listenings.ts'
import type { StartParts } from '../start-all.ts'
import type { ChildSupervisor } from './child-supervisor.ts'
import { EGRESS, PROXY } from './programs.ts'
import { startChild } from './start-child.ts'

export interface DataPlane {
  readonly proxy: ChildSupervisor
  readonly egress: ChildSupervisor
}

/** Starts the processes that serve the traffic of tenants: to sandboxes and from them. */
export async function startDataPlane(parts: StartParts, database: DatabaseUrls, registry: Registry): Promise<DataPlane> {
  const { config, environment } = parts
  const { proxy: proxyListening, egress: egressListening } = listenings(config)
  const shared = { database, registry }
  const proxy = await startChild(parts, {
    ...shared,
    program: PROXY,
    heapBytes: config.proxyHeap,
    drainMs: parseProxyConfig(environment).drainMs,
    listening: proxyListening,
  })
  const egress = await startChild(parts, {
    ...shared,
    program: EGRESS,
    heapBytes: config.egressHeap,
    drainMs: parseEgressConfig(environment).drainMs,
    variables: {
      // It adds secrets to requests; the proxy gets no key.
      ...keyVariables(environment),
      // It closes the proxy of the company to sandboxes and does not use it.
      ...(config.httpProxy && { [OUTBOUND_SETTINGS.httpProxy.env]: withoutCredentials(config.httpProxy) }),
    },
    listening: egressListening,
  })
  return { proxy, egress }
}
