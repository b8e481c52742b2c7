import type { Socket } from 'node:net'
import type { Endpoint } from '../native/original-destination.ts'
import type { PortKind } from '../policy/decide.ts'
import type { EgressSandbox } from '../sandboxes/sandbox.ts'
import type { Slot } from './source-slots.ts'

/** A redirected connection of a known sandbox. */
export interface Connection {
  /** Paused; nothing was read from it, or what was read has been put back. */
  readonly socket: Socket
  readonly destination: Endpoint
  readonly kind: PortKind
  readonly slot: Slot
  /** The sandbox with its current policy. */
  readonly sandbox: () => EgressSandbox
  /** Says how the connection is judged when the policy changes. */
  readonly judgeBy: (isStillAllowed: (sandbox: EgressSandbox) => boolean) => void
}
