import type { Registration } from './registration.ts'
import { isOwnChain } from './sandbox-rules.ts'

/** The parts of nftables' JSON (libnftables-json(5)) that registrations are read from. */
type Entry = {
  readonly set?: { readonly name: string; readonly elem?: readonly unknown[] }
  readonly map?: { readonly name: string; readonly elem?: readonly unknown[] }
  readonly chain?: { readonly name: string }
  readonly rule?: { readonly chain: string; readonly comment?: string }
}
type Bound = { readonly concat: readonly [string, string, string] }
type Verdict = readonly [string, { readonly goto?: { readonly target: string } }]

/** Reads what is registered from the listings of both tables. Undefined when one of them is absent. */
export function readRegistration([bridge, inet]: readonly (readonly unknown[] | null)[]): Registration | undefined {
  if (!bridge || !inet) return undefined
  const [frames, packets] = [bridge as readonly Entry[], inet as readonly Entry[]]
  const elements = (entries: readonly Entry[], name: string): readonly unknown[] =>
    entries.flatMap(({ set, map }) => [set, map].find((found) => found?.name === name)?.elem ?? [])
  const chains = elements(packets, 'by_source') as readonly Verdict[]
  const marks = new Map<string, string | undefined>()
  for (const { chain } of packets) if (chain !== undefined && isOwnChain(chain.name)) marks.set(chain.name, undefined)
  for (const { rule } of packets) if (rule?.comment !== undefined && marks.has(rule.chain)) marks.set(rule.chain, rule.comment)
  return {
    ports: new Set(elements(frames, 'ports') as readonly string[]),
    bound: (elements(frames, 'bound') as readonly Bound[]).map(({ concat: [port, mac, address] }) => ({ port, mac, address })),
    chains: new Map(chains.map(([address, verdict]) => [address, verdict.goto?.target ?? ''])),
    marks,
  }
}
