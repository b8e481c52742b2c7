import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { EgressDecision } from '@sandyard/dashboard-contract/network'
import type { NetworkView } from '@sandyard/dashboard-contract/sandboxes'

/** Rules with headers and a proxy have secrets that the page never sees, and an update replaces them: such a policy is not changed here. */
export function isChangeable({ rules, proxyAddress }: NetworkView): boolean {
  return rules.length === 0 && proxyAddress === null
}

/** The policy as it is now, in the form of an update, which replaces all of it. */
export function updateOf({ allowInternetAccess, allowOut, denyOut, dnsServers }: NetworkView): SandboxNetworkUpdate {
  return {
    allowOut: [...allowOut],
    denyOut: [...denyOut],
    ...(dnsServers.length > 0 && { dnsServers: [...dnsServers] }),
    ...(!allowInternetAccess && { allow_internet_access: false }),
  }
}

/** The update that also allows `entry`. */
export function updateWith(view: NetworkView, entry: string): SandboxNetworkUpdate {
  const update = updateOf(view)
  return { ...update, allowOut: [...new Set([...(update.allowOut ?? []), entry])] }
}

/** Entries of a text with one on each line, or separated by commas. */
export function entriesOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((entry) => entry !== ''))]
}

const MAX_LEARNED = 1000

/** A policy that allows what was reached and nothing else. */
export function learnedPolicy(decisions: readonly EgressDecision[]): SandboxNetworkUpdate {
  const reached = decisions.filter(({ verdict }) => verdict === 'allow').map(({ host, address }) => host ?? address)
  return { allowOut: [...new Set(reached)].sort().slice(0, MAX_LEARNED), denyOut: ['0.0.0.0/0'] }
}
