import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'

const TEXT = 'text/plain; charset=utf-8'

/** The 404 of credentials, which is plain text (control-plane.md 1.4). */
export const CredentialNotFound = { description: 'Not found', content: { [TEXT]: { schema: Type.String() } } }

export function sendNotFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).type(TEXT).send('id not found')
}
