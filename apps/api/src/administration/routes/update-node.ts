import { NodeStatusChange } from '@sandyard/api-contract/nodes/node'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { orderNode, parseNodeId } from '../../servers/nodes.ts'
import { isCluster } from '../is-cluster.ts'
import { NodeParams, sendNoNode } from './node-params.ts'

/** `POST /nodes/{nodeID}` (control-plane.md 13.1). */
export const updateNodeRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('updateNode'),
    schema: { params: NodeParams, body: NodeStatusChange, response: { 204: Nothing, 404: Nothing, ...errors(400, 401, 409, 429, 500) } },
    handler: async ({ params, body: { status, clusterID } }, reply) => {
      const serverId = isCluster(ctx.engineId, clusterID) ? parseNodeId(params.nodeID) : undefined
      const order = serverId === undefined ? undefined : await orderNode(ctx.database, serverId, status)
      if (order === undefined) {
        sendNoNode(reply)
        return reply
      }
      // This server holds to the answer at once; others hear of the order.
      if (serverId === ctx.sandboxes.serverId) ctx.placement.follow(order)
      return reply.code(204).send(null)
    },
  })
