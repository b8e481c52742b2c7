import type { FastifyReply } from 'fastify'

/** Answers with the error body of the REST routes (envd.md 2.4): `code` is the status as a number, and the text ends in a newline. */
export function sendError(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply
    .code(status)
    .header('Content-Type', 'application/json; charset=utf-8')
    .header('X-Content-Type-Options', 'nosniff')
    .send(formatError(status, message))
}

/** The error body itself, for what Fastify does not send. */
export function formatError(status: number, message: string): string {
  return `${JSON.stringify({ code: status, message })}\n`
}

/** Sends JSON as upstream types it, without a charset: Fastify adds one to texts, not to bytes. */
export function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('Content-Type', 'application/json').send(Buffer.from(`${JSON.stringify(body)}\n`))
}
