import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Operation } from '@sandyard/api-contract/operation'
import type { Principal } from '../auth/principal.ts'
import type { AppContext } from '../context.ts'

export type ApiInstance = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>

/** Registers one wire operation. */
export type ApiRoute = (app: ApiInstance, ctx: AppContext) => void

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. Routes without one are not part of the interface and need no credentials. */
    operation?: Operation
    /** The body may be absent, which then means an empty object. */
    isBodyOptional?: boolean
    /** The route checks a credential of its own. */
    guardsItself?: boolean
    /** Only the proxies of the installation call it. */
    isForProxies?: boolean
    /** A route without an operation that changes something: its calls are recorded under this name. */
    auditedAs?: string
    /** Answered also while the server drains. */
    isHealthCheck?: boolean
  }
  interface FastifyRequest {
    /** Set for every operation that needs credentials. */
    principal: Principal | null
  }
}
