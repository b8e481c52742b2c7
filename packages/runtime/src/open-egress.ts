import type { EgressPolicy } from './types.ts'

/** Whether a policy is that of a sandbox whose request says nothing of its network. */
export function isDefaultEgress(policy: EgressPolicy): boolean {
  return isOpenEgress(policy) && policy.allowOut.length === 0
}

/**
 * Whether a policy permits everything that is not closed to every sandbox, without the gateway. Only such a sandbox may use the HTTP proxy of the
 * installation, which connects to whatever it is asked for.
 */
export function isOpenEgress({ allowInternet, denyOut, gateway, filterLookups }: EgressPolicy): boolean {
  return allowInternet && denyOut.length === 0 && gateway === 'none' && !filterLookups
}
