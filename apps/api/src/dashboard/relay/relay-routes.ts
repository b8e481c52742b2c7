import type { ApiRoute } from '../../http/api-instance.ts'
import { contentRoutes } from './files/content-routes.ts'
import { entryRoutes } from './files/entry-routes.ts'
import { egressRoute } from './network/egress-route.ts'
import { processRoutes } from './processes/process-routes.ts'

/** The operations that ask a sandbox's daemon or the engine: files, processes, ports, changes, egress. */
export const relayRoutes: readonly ApiRoute[] = [entryRoutes, contentRoutes, processRoutes, egressRoute]
