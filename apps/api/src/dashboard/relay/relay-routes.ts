import type { ApiRoute } from '../../http/api-instance.ts'

/** The operations that ask a sandbox's daemon or the engine: files, processes, ports, changes, egress. */
export const relayRoutes: readonly ApiRoute[] = []
