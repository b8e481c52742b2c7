import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'

/** The 404 of credentials, which is plain text (control-plane.md 1.4). */
export const CredentialNotFound = Type.String({ description: 'Not found' })

export function sendNotFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).type('text/plain; charset=utf-8').send('id not found')
}
