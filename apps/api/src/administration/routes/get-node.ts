import { NodeDetail, NodeQuery } from '@sandyard/api-contract/nodes/node'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { clusterIdOf, listNodes, parseNodeId } from '../../servers/nodes.ts'
import { isCluster } from '../is-cluster.ts'
import { toNodeDetail } from '../node-views.ts'
import { NodeParams, sendNoNode } from './node-params.ts'

/** `GET /nodes/{nodeID}` (control-plane.md 13.1). */
export const getNodeRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getNode'),
    schema: { params: NodeParams, querystring: NodeQuery, response: { 200: NodeDetail, 404: Nothing, ...errors(400, 401, 429, 500) } },
    handler: async ({ params, query }, reply) => {
      const serverId = isCluster(ctx.engineId, query.clusterID) ? parseNodeId(params.nodeID) : undefined
      const [row] = serverId === undefined ? [] : await listNodes(ctx.database.db, serverId)
      if (row !== undefined) return toNodeDetail(row, clusterIdOf(ctx.engineId))
      sendNoNode(reply)
      return reply
    },
  })
