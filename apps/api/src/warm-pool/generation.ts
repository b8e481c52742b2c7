import { createHash } from 'node:crypto'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'

/**
 * What a sandbox that was started now depends on beside its template: the daemon and the settings of the runtime, and the way out of the network.
 * A sandbox of another generation is never handed out.
 */
export function poolGeneration(ofRuntime: string, outbound: Outbound): string {
  return createHash('sha256')
    .update(JSON.stringify([ofRuntime, outbound.extraCa, proxyVariables(outbound)]))
    .digest('hex')
    .slice(0, 32)
}
