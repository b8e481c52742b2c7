import { createHash } from 'node:crypto'
import { isOpenEgress } from '@sandyard/runtime/open-egress'
import type { EgressPolicy } from '@sandyard/runtime/types'
import { tableName } from './base-rules.ts'
import { cidrsOf, withoutNested } from './ipv4.ts'
import type { Registration, Station } from './registration.ts'

/** What decides on the packets of a sandbox: the chain of all sandboxes with the default policy, or one of its own. */
export interface SandboxRules {
  readonly chain: string
  /** Declares and fills its own chain; empty for the default. It can be applied again. */
  readonly text: string
  /** The same for equal policies; on the first rule of its own chain. Undefined for the default. */
  readonly mark: string | undefined
}

/** The guard puts the name of the port in this place. */
const PORT = '@PORT@'
const DEFAULT_CHAIN = 'open'
const OWN_CHAIN = /^p_\d+_\d+_\d+_\d+$/

/** The order of control-plane.md 18.4; what is closed to every sandbox comes first. */
export function compilePolicy(installation: string, address: string, policy: EgressPolicy): SandboxRules {
  const allow = splitAll(policy.allowOut)
  const deny = splitAll(policy.denyOut)
  const isClosed = !policy.allowInternet || deny.all
  if (isOpenEgress({ ...policy, allowInternet: !isClosed, denyOut: deny.networks }))
    return { chain: DEFAULT_CHAIN, text: '', mark: undefined }
  const [table, own] = [tableName(installation), ownNames(address)]
  const take = { none: undefined, names: undefined, web: 'jump names', all: 'jump connections' }[policy.gateway]
  const rules = [
    // Names are a way out too: without the filter they do not resolve in a closed sandbox.
    policy.filterLookups ? 'jump lookups' : isClosed ? undefined : 'ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 goto pass',
    'jump barred',
    take,
    allow.all ? 'goto pass' : `ip daddr . ip protocol @${own.allowed} goto pass`,
    policy.gateway === 'names' ? 'jump names' : undefined,
    isClosed ? 'goto denied' : `ip daddr . ip protocol @${own.denied} goto denied`,
    'goto pass',
  ].filter((rule) => rule !== undefined)
  const mark = createHash('sha256')
    .update(JSON.stringify([rules, allow, deny]))
    .digest('hex')
    .slice(0, 16)
  const text = [
    `add chain inet ${table} ${own.chain}`,
    `flush chain inet ${table} ${own.chain}`,
    ...networkSet(`inet ${table} ${own.allowed}`, allow.networks),
    ...networkSet(`inet ${table} ${own.denied}`, deny.networks),
    ...rules.map((rule, index) => `add rule inet ${table} ${own.chain} ${rule}${index === 0 ? ` comment "${mark}"` : ''}`),
  ].join('\n')
  return { chain: own.chain, text, mark }
}

/** Registers a sandbox at the port that the guard finds: then it can use its own address and no other. */
export function compileRegistration(installation: string, { address, mac }: Station, rules: SandboxRules): string {
  const table = tableName(installation)
  return [
    rules.text,
    `add element bridge ${table} ports { "${PORT}" }`,
    `add element bridge ${table} bound { "${PORT}" . ${mac} . ${address} }`,
    `add element inet ${table} by_source { ${address} : goto ${rules.chain} }`,
  ].join('\n')
}

/** Removes all that is registered for an address, and its own chain. The text is empty when there is nothing. */
export function compileRemoval(installation: string, address: string, found: Registration): string {
  const table = tableName(installation)
  const chain = found.chains.get(address)
  const bound = found.bound.filter((entry) => entry.address === address)
  const { chain: own, allowed, denied } = ownNames(address)
  return [
    ...bound.map(({ port, mac }) => `delete element bridge ${table} bound { "${port}" . ${mac} . ${address} }`),
    ...[...new Set(bound.map(({ port }) => port))]
      .filter((port) => found.ports.has(port))
      .map((port) => `delete element bridge ${table} ports { "${port}" }`),
    ...(chain === undefined ? [] : [`delete element inet ${table} by_source { ${address} : goto ${chain} }`]),
    ...(found.marks.has(own) ? [`flush chain inet ${table} ${own}`, `delete chain inet ${table} ${own}`] : []),
    ...(found.marks.has(own) ? [allowed, denied].map((set) => `delete set inet ${table} ${set}`) : []),
  ].join('\n')
}

export function isOwnChain(name: string): boolean {
  return OWN_CHAIN.test(name)
}

/** The addresses that something is registered for, own chains that nothing leads to any more included. */
export function addressesOf({ bound, chains, marks }: Registration): Set<string> {
  const ofChains = [...marks.keys()].map((chain) => chain.slice('p_'.length).replaceAll('_', '.'))
  return new Set([...bound.map(({ address }) => address), ...chains.keys(), ...ofChains])
}

/** The names of what a sandbox with another policy than the default has for itself. */
export function ownNames(address: string): { chain: string; allowed: string; denied: string } {
  const suffix = address.replaceAll('.', '_')
  return { chain: `p_${suffix}`, allowed: `a_${suffix}`, denied: `d_${suffix}` }
}

/**
 * Declares and fills a set of networks, with all protocols as a second field: before each change nftables reads the elements of all sets of plain
 * intervals on the host, so the change of a sandbox would take as long as the policies of all others are. It does not read sets of two fields. Their
 * elements cannot contain each other.
 */
function networkSet(set: string, networks: readonly string[]): string[] {
  const elements = withoutNested(networks).map((cidr) => `${cidr} . 0-255`)
  const fill = elements.length === 0 ? [] : [`add element ${set} { ${elements.join(', ')} }`]
  return [`add set ${set} { type ipv4_addr . inet_proto; flags interval; }`, `flush set ${set}`, ...fill]
}

/** Sets of intervals cannot contain all addresses. */
function splitAll(entries: readonly string[]): { all: boolean; networks: string[] } {
  const cidrs = cidrsOf(entries)
  return { all: cidrs.includes('0.0.0.0/0'), networks: cidrs.filter((cidr) => cidr !== '0.0.0.0/0') }
}
