import { Type } from 'typebox'
import { Node, NodeQuery } from '@sandyard/api-contract/nodes/node'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sendList } from '../../http/send-list.ts'
import { clusterIdOf, listNodes } from '../../servers/nodes.ts'
import { isCluster } from '../is-cluster.ts'
import { toNode } from '../node-views.ts'

/** `GET /nodes` (control-plane.md 13.1). */
export const listNodesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listNodes'),
    schema: { querystring: NodeQuery, response: { 200: Type.Array(Node), ...errors(400, 401, 429, 500) } },
    handler: async ({ query }, reply) => {
      const rows = isCluster(ctx.engineId, query.clusterID) ? await listNodes(ctx.database.db) : []
      const clusterId = clusterIdOf(ctx.engineId)
      return sendList(reply, rows, (row) => toNode(row, clusterId))
    },
  })
