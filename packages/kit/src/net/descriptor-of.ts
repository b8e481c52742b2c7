import type { Socket } from 'node:net'

/** The file descriptor of a socket, for system calls that Node does not offer; -1 for a socket that is closed. Node has no public name for it. */
export function descriptorOf(socket: Socket): number {
  return (socket as unknown as { _handle: { fd?: number } | null })._handle?.fd ?? -1
}
