import type { Bridge } from '../network/sandbox-network.ts'
import type { BaseKeeper } from './base-keeper.ts'
import { tableName } from './base-rules.ts'
import type { GuardKeeper } from './guard-keeper.ts'
import { refused } from './refused.ts'
import type { Station } from './registration.ts'

/** A container of the control plane on the sandbox network: the api or the proxy. */
export interface Member {
  /** Another one after each start of the container. */
  readonly endpointId: string
  readonly station: Station
  /** Its other networks, as `172.18.0.0/16`: they belong to the control plane. */
  readonly networks: readonly string[]
}

export interface MemberKeeperOptions {
  readonly installation: string
  readonly guards: GuardKeeper
  readonly base: BaseKeeper
  readonly bridge: () => Promise<Bridge>
}

interface Entry extends Station {
  readonly port: string
}

/** The parts of nftables' JSON that members are read from. */
interface Listed {
  readonly set?: { readonly name: string; readonly elem?: readonly { readonly concat: readonly [string, string, string] }[] }
}

/** Keeps the members of the sandbox network registered: they open connections to sandboxes, and sandboxes only answer. */
export class MemberKeeper {
  readonly #options: MemberKeeperOptions
  /** By endpoint. */
  readonly #registered = new Map<string, Entry>()
  #networks: readonly string[] = []
  #generation: number | undefined

  constructor(options: MemberKeeperOptions) {
    this.#options = options
  }

  get networks(): readonly string[] {
    return this.#networks
  }

  /** Returns when exactly the listed members are registered. Several processes may do this at the same time. */
  async set(list: () => Promise<readonly Member[]>): Promise<void> {
    const { base } = this.#options
    await base.ensure()
    // What is registered before the look and has no container in it is left over.
    const others = this.#generation === base.generation ? [] : await this.#read()
    if (this.#generation !== base.generation) this.#registered.clear()
    this.#generation = base.generation
    const members = await list()
    this.#networks = [...new Set(members.flatMap(({ networks }) => networks))].sort()
    await base.ensure()
    await this.#keepOnly(members)
    const added = members.filter(({ endpointId }) => !this.#registered.has(endpointId))
    for (const { endpointId, station } of added) this.#registered.set(endpointId, await this.#add(station))
    // One that has ended meanwhile may have left its address, and with it the hardware address, to a sandbox.
    if (added.length > 0) await this.#keepOnly(await list())
    const kept = new Set([...this.#registered.values()].map(({ port }) => port))
    for (const entry of others) if (!kept.has(entry.port)) await this.#remove(entry)
  }

  async #keepOnly(members: readonly Member[]): Promise<void> {
    const wanted = new Set(members.map(({ endpointId }) => endpointId))
    for (const [endpointId, entry] of this.#registered) {
      if (wanted.has(endpointId)) continue
      await this.#remove(entry)
      this.#registered.delete(endpointId)
    }
  }

  async #add(station: Station): Promise<Entry> {
    const { guards, bridge, installation } = this.#options
    const { interface: name } = await bridge()
    const port = await guards.use((guard) =>
      guard.apply(elements('add', installation, { ...station, port: '@PORT@' }), { port: { bridge: name, ...station } }),
    )
    return { ...station, port }
  }

  /** Another process may have removed it. */
  async #remove(entry: Entry): Promise<void> {
    const { guards, installation } = this.#options
    await guards.use((guard) => refused(() => guard.apply(elements('delete', installation, entry))))
  }

  async #read(): Promise<Entry[]> {
    const { guards, installation } = this.#options
    const [found] = await guards.use((guard) => guard.list([['set', 'bridge', tableName(installation), 'members']]))
    const entries = (found ?? []) as readonly Listed[]
    return entries.flatMap(({ set }) => (set?.elem ?? []).map(({ concat: [port, mac, address] }) => ({ port, mac, address })))
  }
}

function elements(verb: 'add' | 'delete', installation: string, { port, mac, address }: Entry): string {
  const table = tableName(installation)
  return [
    `${verb} element bridge ${table} member_ports { "${port}" }`,
    `${verb} element bridge ${table} members { "${port}" . ${mac} . ${address} }`,
  ].join('\n')
}
