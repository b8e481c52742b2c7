import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import { Quota, type Refusal } from '@sandyard/kit/limits/quota'
import { ConnectionCaps, type ConnectionLimits } from './connection-caps.ts'
import type { CountRefused } from './request-cap.ts'
import { clientOf } from './request-owner.ts'
import { onceDone } from './request-work.ts'

export interface RequestCapsLimits extends ConnectionLimits {
  readonly maxRequests: number
  readonly maxClientRequests: number
  readonly maxTeamRequests: number
}

export interface RequestCapsOptions {
  readonly limits: RequestCapsLimits
  /** Addresses and networks of reverse proxies. */
  readonly fronts: readonly string[]
  readonly countRefused: CountRefused
}

/**
 * Bounds the connections, and the requests in flight with the work that goes on when their clients have gone: of all, of a client address, and of a team. Must
 * be registered before the authentication. Health checks do not count as requests.
 */
export const requestCapsPlugin = fp<RequestCapsOptions>(
  async (app, { limits, fronts, countRefused }) => {
    const connections = new ConnectionCaps(limits, fronts, countRefused)
    connections.watch(app.server)
    const clients = new Quota({ all: limits.maxRequests, one: limits.maxClientRequests })
    const teams = new Quota({ all: limits.maxRequests, one: limits.maxTeamRequests })

    const enter = (quota: Quota, owner: string | undefined, request: FastifyRequest, reply: FastifyReply): Refusal | undefined => {
      const refusal = quota.take(owner)
      if (refusal === undefined) onceDone(request, reply, () => quota.release(owner))
      return refusal
    }
    app.addHook('onRequest', async (request, reply) => {
      const refused = connections.refusalOf(request.raw.socket)
      if (isExempt(request, reply)) return
      if (refused !== undefined) throw tooMany('open connections', 'this address', refused)
      // The proxies of the installation ask for all clients.
      const owner = request.routeOptions.config.isForProxies === true ? undefined : clientOf(request)
      const refusal = enter(clients, owner, request, reply)
      if (refusal === undefined) return
      countRefused(refusal.of === 'all' ? 'requests' : 'client_requests')
      throw tooMany('requests in flight', 'this address', refusal)
    })
    // Whatever answers its first request.
    app.addHook('onSend', async (request, reply) => {
      if (connections.refusalOf(request.raw.socket) !== undefined) void reply.header('connection', 'close')
    })
    // After the authentication, and before the body is read.
    app.addHook('preParsing', async (request, reply) => {
      const teamId = request.principal?.team?.id
      if (teamId === undefined || isExempt(request, reply)) return
      const refusal = enter(teams, teamId, request, reply)
      if (refusal === undefined) return
      countRefused('team_requests')
      throw tooMany('requests in flight', 'this team', refusal)
    })
  },
  { name: 'request-caps', dependencies: ['request-work'] },
)

/** The end of a request that has closed already would not be told any more. */
function isExempt({ routeOptions }: FastifyRequest, { raw }: FastifyReply): boolean {
  return routeOptions.config.isHealthCheck === true || raw.destroyed
}

function tooMany(what: string, whose: string, { of, limit }: Refusal): AppError {
  const headers = { 'retry-after': '1' }
  if (of === 'all') return new AppError('unavailable', `The server has too many ${what} (${limit}): try again`, { headers })
  return new AppError('resource_exhausted', `There are too many ${what} of ${whose} (${limit}): try again`, { headers })
}
