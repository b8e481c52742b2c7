import type { EgressContext } from '../context.ts'
import { MAX_HELLO_BYTES, parseClientHello } from '../names/client-hello.ts'
import { peek } from '../names/peek.ts'
import { sniffHttp } from '../names/sniff-http.ts'
import { decide, needsName } from '../policy/decide.ts'
import { serveHttp } from '../web/serve-http.ts'
import { serveTls } from '../web/serve-tls.ts'
import type { Connection } from './connection.ts'
import { openTunnel } from './open-tunnel.ts'
import { recordDecision } from './record-decision.ts'
import { findRule } from '../policy/compile-policy.ts'

/** Enough to recognise a request. */
const MAX_SNIFFED_BYTES = 1024

/** Finds the name of the server if the policy needs it, and serves the connection as it decides. */
export async function serveDecided(ctx: EgressContext, connection: Connection): Promise<void> {
  const { destination, kind } = connection
  const { policy } = connection.sandbox()
  // What is closed to everybody is closed before its name is known.
  if (ctx.closed.isClosed(destination.address, destination.port) || !needsName(policy, destination.address, kind))
    return openTunnel(ctx, connection, undefined)
  return kind === 'tls' ? await serveSecure(ctx, connection) : await servePlain(ctx, connection)
}

async function serveSecure(ctx: EgressContext, connection: Connection): Promise<void> {
  const { socket, destination } = connection
  const hello = await peek(socket, {
    parse: (bytes) => {
      const found = parseClientHello(bytes)
      return found.kind === 'incomplete' ? found.needed : found
    },
    maxBytes: MAX_HELLO_BYTES,
    timeoutMs: ctx.limits.peekTimeoutMs,
  })
  if (hello === undefined) return
  // A client that waits for its server to speak first does not speak TLS.
  if (hello.kind === 'other' || (hello.kind === 'unread' && hello.bytes === 0)) return openTunnel(ctx, connection, undefined)
  if (hello.kind !== 'hello') return recordDecision(ctx, connection, { verdict: 'deny', rule: 'malformed' })
  const { name } = hello
  const { policy } = connection.sandbox()
  if (
    name !== undefined &&
    findRule(policy, name) !== undefined &&
    decide(policy, ctx.closed, { ...destination, name }).verdict === 'allow'
  )
    return serveTls(ctx, connection, name)
  return openTunnel(ctx, connection, name)
}

async function servePlain(ctx: EgressContext, connection: Connection): Promise<void> {
  const { socket } = connection
  const sniffed = await peek(socket, {
    parse: (bytes) => {
      const isHttp = sniffHttp(bytes)
      return isHttp === undefined ? bytes.length + 1 : ({ kind: 'sniffed', isHttp } as const)
    },
    maxBytes: MAX_SNIFFED_BYTES,
    timeoutMs: ctx.limits.peekTimeoutMs,
  })
  if (sniffed === undefined) return
  if (sniffed.kind === 'sniffed' && sniffed.isHttp) return serveHttp(ctx, connection)
  return openTunnel(ctx, connection, undefined)
}
