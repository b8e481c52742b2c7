import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { EgressContext } from '../context.ts'
import { untilReady } from '../dial/connect-socket.ts'
import { DialError } from '../dial/dial-error.ts'
import { dial } from '../dial/dial.ts'
import { decide } from '../policy/decide.ts'
import type { WebConnection } from './web-connection.ts'
import { findRule } from '../policy/compile-policy.ts'

/**
 * Connects to the server of a request, with TLS and a full check of its certificate for `https`. A name is looked up here also when the
 * address was allowed, because headers that are added must not go to an address that the sandbox chose.
 *
 * @throws DialError
 */
export async function connectOrigin(ctx: EgressContext, web: WebConnection, name: string | undefined): Promise<Socket> {
  const { policy } = web.sandbox()
  const { address, port } = web.destination
  const decision = decide(policy, ctx.closed, { address, port, name })
  const byName = decision.rule === 'allow_domain' || findRule(policy, name) !== undefined
  if (name === undefined || !byName) {
    // A request that was encrypted is never sent without TLS.
    if (web.scheme === 'https') throw new DialError('closed_name')
    return dial(ctx, policy, { address, port })
  }
  const isAllowed =
    decision.rule === 'allow_domain'
      ? undefined
      : (found: string): boolean => decide(policy, ctx.closed, { address: found, port, name: undefined }).verdict === 'allow'
  const socket = await dial(ctx, policy, { name, port, isAllowed })
  return web.scheme === 'http' ? socket : await secure(ctx, socket, name)
}

async function secure(ctx: EgressContext, socket: Socket, servername: string): Promise<Socket> {
  const secured = connectTls({
    socket,
    servername,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    ...(ctx.originAuthorities !== undefined && { ca: [...ctx.originAuthorities] }),
  })
  try {
    await untilReady(secured, 'secureConnect', AbortSignal.timeout(ctx.limits.connectTimeoutMs))
  } catch (err) {
    socket.destroy()
    throw new DialError('bad_certificate', err)
  }
  return secured
}
