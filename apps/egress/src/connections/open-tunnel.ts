import type { Socket } from 'node:net'
import { connectSockets } from '@sandyard/kit/net/connect-sockets'
import type { EgressContext } from '../context.ts'
import { DialError } from '../dial/dial-error.ts'
import { dial, type Target } from '../dial/dial.ts'
import { decide, needsName } from '../policy/decide.ts'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'
import type { Connection } from './connection.ts'
import { recordDecision } from './record-decision.ts'
import { findRule } from '../policy/compile-policy.ts'

/** Connects a sandbox with its server, byte for byte, if the policy allows it. */
export async function openTunnel(ctx: EgressContext, connection: Connection, name: string | undefined): Promise<void> {
  const { socket, destination, slot } = connection
  const { address, port } = destination
  const { policy } = connection.sandbox()
  const decision = decide(policy, ctx.closed, { address, port, name })
  if (decision.verdict === 'deny') return recordDecision(ctx, connection, { ...decision, name })
  const isNamed = decision.rule === 'allow_domain' && name !== undefined
  const target: Target = isNamed ? { name, port, isAllowed: undefined } : { address, port }
  connection.judgeBy((changed) => isSameWay(ctx, connection, { changed, name }))
  let upstream: Socket
  try {
    upstream = await dial(ctx, policy, target)
  } catch (err) {
    if (!(err instanceof DialError)) throw err
    return recordDecision(ctx, connection, { verdict: 'deny', rule: err.failure, name })
  }
  recordDecision(ctx, connection, { ...decision, name })
  if (socket.destroyed) {
    upstream.destroy()
    return
  }
  slot.settle()
  const ended = connectSockets(socket, upstream)
  // Bytes in both directions pass this socket. It ends the other side when it is destroyed.
  socket.setTimeout(ctx.limits.idleTimeoutMs, () => socket.destroy())
  await ended
}

/** Whether a changed policy would open the same tunnel. */
function isSameWay(
  ctx: EgressContext,
  { sandbox, destination, kind }: Connection,
  { changed, name }: { readonly changed: EgressSandbox; readonly name: string | undefined },
): boolean {
  const { policy: before } = sandbox()
  const { policy } = changed
  const { address, port } = destination
  // A policy that needs the name of a server that was not read asks for a new connection.
  if (name === undefined && needsName(policy, address, kind) && !needsName(before, address, kind)) return false
  const was = decide(before, ctx.closed, { address, port, name })
  const is = decide(policy, ctx.closed, { address, port, name })
  if (is.verdict === 'deny' || before.proxy?.key !== policy.proxy?.key) return false
  // A connection to an address that the sandbox chose is not one to the name that it told.
  if (is.rule === 'allow_domain' && was.rule !== 'allow_domain') return false
  // A connection to an address of an allowed name may be to one that the policy denies.
  if (was.rule === 'allow_domain' && is.rule !== 'allow_domain') return false
  return findRule(policy, name) === undefined
}
