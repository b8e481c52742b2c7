/** The end of a sandbox's interface in the sandbox. */
export interface Station {
  readonly address: string
  readonly mac: string
}

/** What of a registration is in force. */
export interface Registration {
  readonly ports: ReadonlySet<string>
  readonly bound: readonly (Station & { readonly port: string })[]
  /** By address. */
  readonly chains: ReadonlyMap<string, string>
  /** The marks of own chains, by chain; an own chain without one is incomplete. */
  readonly marks: ReadonlyMap<string, string | undefined>
}

/** The ports that are bound to an address, as a text to compare. */
export function portsOf({ bound }: Registration, address: string): string {
  return bound
    .flatMap((entry) => (entry.address === address ? [entry.port] : []))
    .toSorted()
    .join()
}

/** What a registration at a port has put in force. */
export function registrationOf(
  bound: Station & { readonly port: string },
  { chain, mark }: { readonly chain: string; readonly mark: string | undefined },
): Registration {
  return {
    ports: new Set([bound.port]),
    bound: [bound],
    chains: new Map([[bound.address, chain]]),
    marks: new Map(mark === undefined ? [] : [[chain, mark]]),
  }
}
