import type { ApiRoute } from '../../http/api-instance.ts'
import { changesRoutes } from './changes/changes-routes.ts'
import { contentRoutes } from './files/content-routes.ts'
import { entryRoutes } from './files/entry-routes.ts'
import { egressRoute } from './network/egress-route.ts'
import { volumeFileRoutes } from '../volumes/volume-file-routes.ts'
import { processRoutes } from './processes/process-routes.ts'

/** The operations that ask a sandbox's daemon or the engine: files, processes, ports, changes, egress; and the content of volumes. */
export const relayRoutes: readonly ApiRoute[] = [entryRoutes, contentRoutes, processRoutes, egressRoute, changesRoutes, volumeFileRoutes]
