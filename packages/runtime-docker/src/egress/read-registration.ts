import { tableName } from './base-rules.ts'
import type { Listed } from './guard.ts'
import type { Registration } from './registration.ts'
import { isOwnChain, ownNames } from './sandbox-rules.ts'

/** The parts of nftables' JSON (libnftables-json(5)) that registrations are read from. */
type Entry = {
  readonly set?: { readonly name: string; readonly elem?: readonly unknown[] }
  readonly map?: { readonly name: string; readonly elem?: readonly unknown[] }
  readonly chain?: { readonly name: string }
  readonly rule?: { readonly chain: string; readonly comment?: string }
}
type Bound = { readonly concat: readonly [string, string, string] }
type Verdict = readonly [string, { readonly goto?: { readonly target: string } }]

/** What `readRegistration` reads. With an address the own chains of others are left out. The addresses in policies are never listed. */
export function listingOf(installation: string, address?: string): readonly Listed[] {
  const table = tableName(installation)
  return [
    ['set', 'bridge', table, 'ports'],
    ['set', 'bridge', table, 'bound'],
    ['map', 'inet', table, 'by_source'],
    address === undefined ? ['table', 'inet', table] : ['chain', 'inet', table, ownNames(address).chain],
  ]
}

/** Reads what is registered. Undefined when one of the tables is absent. */
export function readRegistration([ports, bound, sources, own]: readonly (readonly unknown[] | null)[]): Registration | undefined {
  if (!ports || !bound || !sources) return undefined
  const elements = (entries: readonly unknown[]): readonly unknown[] =>
    (entries as readonly Entry[]).flatMap(({ set, map }) => (set ?? map)?.elem ?? [])
  const packets = (own ?? []) as readonly Entry[]
  const marks = new Map<string, string | undefined>()
  for (const { chain } of packets) if (chain !== undefined && isOwnChain(chain.name)) marks.set(chain.name, undefined)
  for (const { rule } of packets) if (rule?.comment !== undefined && marks.has(rule.chain)) marks.set(rule.chain, rule.comment)
  return {
    ports: new Set(elements(ports) as readonly string[]),
    bound: (elements(bound) as readonly Bound[]).map(({ concat: [port, mac, address] }) => ({ port, mac, address })),
    chains: new Map((elements(sources) as readonly Verdict[]).map(([address, verdict]) => [address, verdict.goto?.target ?? ''])),
    marks,
  }
}
