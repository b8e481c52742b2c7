import { existsSync } from 'node:fs'

/** Whether the kernel of this machine has IPv6. Without it its probes are absent here. */
export function hasIpv6(): boolean {
  return existsSync('/proc/net/if_inet6')
}
