import type { FastifyReply } from 'fastify'

/** Sends JSON as upstream types it, without a charset: Fastify adds one to texts, not to bytes. */
export function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('Content-Type', 'application/json').send(Buffer.from(`${JSON.stringify(body)}\n`))
}
