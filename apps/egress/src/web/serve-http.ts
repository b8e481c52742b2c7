import { once } from 'node:events'
import type { Socket } from 'node:net'
import { RequestLine } from '@sandyard/kit/net/request-line'
import type { Connection } from '../connections/connection.ts'
import type { EgressContext } from '../context.ts'
import { decide, needsName } from '../policy/decide.ts'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'
import { OriginAgent } from './origin-agent.ts'
import type { WebConnection } from './web-connection.ts'
import { findRule } from '../policy/compile-policy.ts'

/** Requests that wait behind another of their connection. */
const MAX_PIPELINED = 16

/** Serves the plain HTTP requests of a connection, each by its own name. Resolves when the connection is closed. */
export function serveHttp(ctx: EgressContext, connection: Connection): Promise<void> {
  return serveWeb(ctx, connection, { socket: connection.socket, scheme: 'http', tlsName: undefined })
}

export interface WebSide {
  /** The side that has the plain text. */
  readonly socket: Socket
  readonly scheme: 'http' | 'https'
  readonly tlsName: string | undefined
}

export async function serveWeb(ctx: EgressContext, connection: Connection, { socket, scheme, tlsName }: WebSide): Promise<void> {
  const line = new RequestLine(socket, {
    maxPipelined: MAX_PIPELINED,
    headersTimeoutMs: ctx.limits.peekTimeoutMs,
    answerMalformed: (broken) => broken.destroy(),
  })
  using agent = new OriginAgent()
  const web: WebConnection = { ...connection, scheme, tlsName, line, agent, current: undefined }
  connection.judgeBy((changed) => isStillServed(ctx, web, changed))
  ctx.web.add(socket, web)
  connection.slot.settle()
  const closed = socket.closed
    ? Promise.resolve()
    : once(socket, 'close').then(
        () => undefined,
        () => undefined,
      )
  ctx.webServer.emit('connection', socket)
  // It was paused after its first bytes were read.
  socket.resume()
  await closed
}

/** Whether the request in flight is still allowed, and read for the same reason. Later requests are judged when they come. */
function isStillServed(ctx: EgressContext, web: WebConnection, changed: EgressSandbox): boolean {
  const { policy: before } = web.sandbox()
  const { policy } = changed
  web.agent.forgetIdle()
  if (before.proxy?.key !== policy.proxy?.key) return false
  if (web.tlsName !== undefined && findRule(policy, web.tlsName) === undefined) return false
  if (!needsName(policy, web.destination.address, web.kind)) return false
  if (web.current === undefined) return true
  const destination = { ...web.destination, name: web.current.name }
  const [was, is] = [decide(before, ctx.closed, destination), decide(policy, ctx.closed, destination)]
  // The gateway has looked up the name for a rule, so the request is at another address than the one that is judged here.
  if (was.rule !== 'allow_domain' && findRule(before, web.current.name) !== undefined) return false
  return is.verdict === 'allow' && is.rule === was.rule
}
