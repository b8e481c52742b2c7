import { clusterIdOf } from '../servers/nodes.ts'
import { checkUuid } from './require-team.ts'

/**
 * Whether a request for a cluster is one for the nodes of this engine; a request that names none is.
 *
 * @throws AppError `invalid_argument` for a text that is no UUID
 */
export function isCluster(engineId: string, clusterId: string | undefined): boolean {
  return clusterId === undefined || checkUuid(clusterId, 'cluster ID').toLowerCase() === clusterIdOf(engineId)
}
