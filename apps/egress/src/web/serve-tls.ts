import { TLSSocket } from 'node:tls'
import { recordDecision } from '../connections/record-decision.ts'
import type { Connection } from '../connections/connection.ts'
import type { EgressContext } from '../context.ts'
import { untilReady } from '../dial/connect-socket.ts'
import { serveWeb } from './serve-http.ts'

/**
 * Ends the TLS of a sandbox with a certificate of its own authority, for a name that has a rule, and serves the requests inside
 * (control-plane.md 18.5).
 */
export async function serveTls(ctx: EgressContext, connection: Connection, name: string): Promise<void> {
  const { socket } = connection
  const secureContext = await ctx.certificates.find(connection.sandbox().sandboxId, name)
  if (secureContext === undefined) return recordDecision(ctx, connection, { verdict: 'deny', rule: 'limit', name })
  if (socket.destroyed) return
  const plain = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  // The program may not trust the authority of its sandbox.
  try {
    await untilReady(plain, 'secure', AbortSignal.timeout(ctx.limits.peekTimeoutMs))
  } catch {
    return recordDecision(ctx, connection, { verdict: 'deny', rule: 'client_tls_failed', name })
  }
  await serveWeb(ctx, connection, { socket: plain, scheme: 'https', tlsName: name })
}
