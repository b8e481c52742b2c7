import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'

/** Any text: one that is no id is an unknown node. */
export const NodeParams = Type.Object({ nodeID: Type.String() })

/** The 404 of nodes has no body (control-plane.md 13.1). */
export function sendNoNode(reply: FastifyReply): void {
  void reply.code(404).send()
}
