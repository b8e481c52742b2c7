import type { FastifyReply, FastifyRequest } from 'fastify'
import { readMediaType } from '../rpc/request-headers.ts'
import { RPC_METHODS } from '../rpc/rpc-methods.ts'
import type { AccountDatabase } from '../users/account-database.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The account of `Authorization: Basic`. Its existence is checked here, or for RPC calls by the request gate of the services. */
    basicUser: string | undefined
  }
}

/**
 * Reads the system user from `Authorization: Basic`; ignores the password, and ignores a malformed header (envd.md 3.4).
 * An unknown account is refused on every route with a Connect error. RPC calls are refused by the request gate of the services, since the
 * form of the error depends on the protocol.
 */
export function basicUserHook(accounts: AccountDatabase) {
  async function refuseUnknown(name: string, reply: FastifyReply): Promise<FastifyReply | undefined> {
    if ((await accounts.lookupUser(name)) !== undefined) return undefined
    const error = { code: 'unauthenticated', message: `invalid username: '${name}'` }
    return reply
      .code(401)
      .header('Content-Type', 'application/json')
      .send(Buffer.from(JSON.stringify(error)))
  }
  // Not asynchronous where nothing has to wait: Fastify takes either the callback or a promise.
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): unknown => {
    const name = parseBasicUser(request.headers.authorization)
    if (name === undefined) return done()
    request.basicUser = name
    return isCall(request) ? done() : refuseUnknown(name, reply)
  }
}

/** The name before the first colon; undefined for another scheme, for bad base64 and for a text without a colon. */
export function parseBasicUser(header: string | undefined): string | undefined {
  const encoded = /^basic (.*)$/i.exec(header ?? '')?.[1]
  if (encoded === undefined || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined
  const [, name] = /^([^:]*):/.exec(Buffer.from(encoded, 'base64').toString()) ?? []
  return name
}

function isCall({ method, routeOptions, headers }: FastifyRequest): boolean {
  const kind = method === 'POST' ? RPC_METHODS.get(routeOptions.url ?? '') : undefined
  return kind !== undefined && readMediaType(headers['content-type'], kind) !== undefined
}
