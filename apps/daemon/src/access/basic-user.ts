import type { FastifyReply, FastifyRequest } from 'fastify'
import { END_OF_STREAM, envelope } from '../rpc/envelope.ts'
import type { AccountDatabase } from '../users/account-database.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account that `Authorization: Basic` names; it existed when the request came in. */
    basicUser: string | undefined
  }
}

const STREAM_TYPE = /^application\/connect\+/i

/**
 * Takes the system user from `Authorization: Basic`; the password is ignored, and so is a header that cannot be read (envd.md 3.4).
 * A name that is no account is refused on every route, in Connect's words.
 */
export function basicUserHook(accounts: AccountDatabase) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const name = parseBasicUser(request.headers.authorization)
    if (name === undefined) return undefined
    if ((await accounts.lookupUser(name)) === undefined) return refuse(request, reply, `invalid username: '${name}'`)
    request.basicUser = name
    return undefined
  }
}

/** The name before the first colon; undefined for another scheme, for bad base64 and for a text without a colon. */
export function parseBasicUser(header: string | undefined): string | undefined {
  const encoded = /^basic (.*)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined
  const [, name] = /^([^:]*):/.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return name
}

function refuse(request: FastifyRequest, reply: FastifyReply, message: string): FastifyReply {
  const error = { code: 'unauthenticated', message }
  const contentType = request.headers['content-type'] ?? ''
  if (request.method !== 'POST' || !STREAM_TYPE.test(contentType)) {
    return reply
      .code(401)
      .header('Content-Type', 'application/json')
      .send(Buffer.from(JSON.stringify(error)))
  }
  return reply
    .code(200)
    .header('Content-Type', contentType.split(';', 1)[0])
    .send(envelope(END_OF_STREAM, JSON.stringify({ error })))
}
