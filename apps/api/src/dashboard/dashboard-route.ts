import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { BinaryAnswer } from '@sandyard/dashboard-contract/api-shape'
import type { DashboardApi, DashboardOperation } from '@sandyard/dashboard-contract/dashboard-api'
import type { ApiInstance } from '../http/api-instance.ts'
import { toUrl } from '../http/operation.ts'
import type { Team } from '../teams/team.ts'
import { assertMayChange, assertOperator, getSession, getSessionTeam, type DashboardSession } from './sessions/dashboard-session.ts'

type Member<Op extends DashboardOperation, Name extends string> =
  DashboardApi[Op] extends Readonly<Record<Name, infer Value>> ? Value : undefined

/** Binary answers are sent by the handler, which returns the reply. */
type Answer<Op extends DashboardOperation> = DashboardApi[Op]['answer'] extends BinaryAnswer ? FastifyReply : DashboardApi[Op]['answer']

export interface DashboardCall<Op extends DashboardOperation> {
  readonly session: DashboardSession
  readonly params: Member<Op, 'params'>
  readonly query: Member<Op, 'query'>
  readonly body: Member<Op, 'body'>
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** As that of every operation (app.ts). */
const HANDLER_TIMEOUT_MS = 70_000

interface Common<Op extends DashboardOperation> {
  /** The shapes of params, querystring and body, from the contract. */
  readonly schema: Pick<FastifySchema, 'params' | 'querystring' | 'body'>
  readonly bodyLimit?: number
  readonly handlerTimeout?: number
  readonly operation: Op
  /** It changes nothing although its method is not GET: it is not audited, and logins with keys that may only read may call it. */
  readonly isRead?: boolean
}

export interface TeamRoute<Op extends DashboardOperation> extends Common<Op> {
  /** Reads and deletes: a blocked team may. */
  readonly whileBlocked: boolean
  handle(call: DashboardCall<Op> & { readonly team: Team }): Promise<Answer<Op>>
}

export interface OperatorRoute<Op extends DashboardOperation> extends Common<Op> {
  handle(call: DashboardCall<Op>): Promise<Answer<Op>>
}

/** Registers an operation that works for the session's team. Objects of other teams are 404. */
export function registerTeamRoute<Op extends DashboardOperation>(app: ApiInstance, route: TeamRoute<Op>): void {
  register(app, route, (call) => route.handle({ ...call, team: getSessionTeam(call.session, route) }))
}

/** Registers an operation of operators. Whether a team is blocked does not matter. */
export function registerOperatorRoute<Op extends DashboardOperation>(app: ApiInstance, route: OperatorRoute<Op>): void {
  register(app, route, (call) => {
    assertOperator(call.session)
    return route.handle(call)
  })
}

/** Registers an operation that works for any session, whatever the state of its team. */
export function registerSessionRoute<Op extends DashboardOperation>(app: ApiInstance, route: OperatorRoute<Op>): void {
  register(app, route, (call) => route.handle(call))
}

/** Registers an operation that needs no session. */
export function registerOpenRoute<Op extends DashboardOperation>(
  app: ApiInstance,
  {
    operation,
    schema,
    isRead,
    handle,
  }: Common<Op> & { readonly handle: (call: Omit<DashboardCall<Op>, 'session'>) => Promise<Answer<Op>> },
): void {
  const { method, url, config } = routeOf(operation, isRead)
  app.route({
    method,
    url,
    schema,
    config,
    handler: async (request, reply) =>
      toReply(reply, await handle({ ...inputOf<Op>(request), request, reply, signal: goneSignal(reply, undefined) })),
  })
}

function register<Op extends DashboardOperation>(
  app: ApiInstance,
  { operation, schema, bodyLimit, handlerTimeout, isRead }: Common<Op>,
  handle: (call: DashboardCall<Op>) => Promise<Answer<Op>>,
): void {
  const { method, url, config } = routeOf(operation, isRead)
  app.route({
    method,
    url,
    schema,
    config,
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(handlerTimeout !== undefined && { handlerTimeout }),
    // Before the body is read and checked.
    onRequest: async (request) => {
      const session = getSession(request)
      if (config.auditedAs !== undefined) assertMayChange(session)
    },
    handler: async (request, reply) => {
      const call = { ...inputOf<Op>(request), session: getSession(request), request, reply, signal: goneSignal(reply, handlerTimeout) }
      return toReply(reply, await handle(call))
    },
  })
}

function routeOf(operation: DashboardOperation, isRead: boolean | undefined) {
  const [method = '', path = ''] = operation.split(' ')
  const changes = method !== 'GET' && isRead !== true
  return { method, url: `/api${toUrl(path)}`, config: { guardsItself: true, ...(changes && { auditedAs: `dashboard ${operation}` }) } }
}

function inputOf<Op extends DashboardOperation>(request: FastifyRequest): Pick<DashboardCall<Op>, 'params' | 'query' | 'body'> {
  const { params, query, body } = request as unknown as Pick<DashboardCall<Op>, 'params' | 'query' | 'body'>
  return { params, query, body }
}

/**
 * Aborts when the client has gone or at the deadline. Not `request.signal`: that one also aborts once the body of a request is read, which is before the
 * handler of most operations with a body has begun.
 */
function goneSignal(reply: FastifyReply, timeoutMs = HANDLER_TIMEOUT_MS): AbortSignal {
  const gone = new AbortController()
  if (reply.raw.destroyed) gone.abort()
  reply.raw.once('close', () => gone.abort())
  return AbortSignal.any([gone.signal, AbortSignal.timeout(timeoutMs)])
}

function toReply(reply: FastifyReply, answer: unknown): unknown {
  // A reply can be awaited, so one that the handler returned has become undefined here.
  if (reply.sent) return reply
  return answer === undefined ? reply.code(204).send() : answer
}
