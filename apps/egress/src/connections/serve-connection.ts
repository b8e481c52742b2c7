import type { Socket } from 'node:net'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import type { EgressContext } from '../context.ts'
import { findSoon } from '../sandboxes/find-soon.ts'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'
import { serveDecided } from './serve-decided.ts'
import type { TrackedConnection } from './connection-tracker.ts'

/** Serves a connection that the packet rules have redirected, until it is closed. A refused one is closed without an answer. */
export async function serveConnection(ctx: EgressContext, socket: Socket): Promise<void> {
  // A broken connection emits an error and then a close; only the close is used.
  socket.on('error', () => undefined)
  const { remoteAddress: source = '' } = socket
  const destination = ctx.readOriginalDestination(socket)
  const isOwn = destination?.address === socket.localAddress && destination?.port === socket.localPort
  if (destination === undefined || isOwn) return refuse(ctx, socket, 'not_redirected')
  if (!ctx.connectionRate.take(source)) return refuse(ctx, socket, 'limit')
  using slot = ctx.slots.take(source)
  if (slot === undefined) return refuse(ctx, socket, 'limit')
  let sandbox: EgressSandbox | undefined
  try {
    sandbox = await findSoon(ctx.sandboxes, source)
  } catch (err) {
    ctx.log.warn({ err }, 'the sandbox of a connection could not be read')
    return refuse(ctx, socket, 'unavailable')
  }
  if (sandbox === undefined) return refuse(ctx, socket, 'unknown_source')

  let current = sandbox
  // Until the connection is decided, every change of the policy ends it.
  let isStillAllowed = (_changed: EgressSandbox): boolean => false
  const tracked: TrackedConnection = {
    sandbox,
    adopt: (changed) => {
      if (changed.policy.key !== current.policy.key && !isStillAllowed(changed)) return false
      current = changed
      return true
    },
    reset: () => resetSocket(socket),
  }
  ctx.tracker.open(tracked)
  try {
    await serveDecided(ctx, {
      socket,
      destination,
      kind: ctx.kindOf(destination.port),
      slot,
      sandbox: () => current,
      judgeBy: (judge) => {
        isStillAllowed = judge
      },
    })
  } finally {
    ctx.tracker.close(tracked)
    socket.destroy()
  }
}

/** Refuses a connection for a reason that is not one of a policy. */
function refuse(ctx: EgressContext, socket: Socket, reason: 'not_redirected' | 'limit' | 'unavailable' | 'unknown_source'): void {
  ctx.metrics.countConnection('deny', reason)
  socket.destroy()
}
