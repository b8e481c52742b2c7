import { createHash } from 'node:crypto'
import { ALWAYS_CLOSED, PRIVATE_NETWORKS } from '@sandyard/kit/net/closed-networks'
import type { Bridge } from '../network/sandbox-network.ts'
import { networkName } from '../labels.ts'
import { cidrsOf } from './ipv4.ts'

/** All inputs of the rules that are the same for all sandboxes. Networks and addresses are IPv4, as `10.0.0.0/8` or `10.1.2.3`. */
export interface BaseRules {
  readonly installation: string
  readonly bridge: Bridge
  /** The resolvers of sandboxes; port 53 is open at any address, other ports are not. */
  readonly resolvers: readonly string[]
  /** The host's addresses and the control networks: never open. */
  readonly closed: readonly string[]
  /** Private networks that the operator has opened. */
  readonly openPrivate: readonly string[]
  /** The HTTP proxy of the company; open to sandboxes with the default policy, wherever it is, and closed to all others: it would lead past their policies. */
  readonly companyProxy: { readonly addresses: readonly string[]; readonly port: number } | undefined
  /** The sources of allowed new connections: the proxy and the api. */
  readonly ingressSources: readonly string[]
  /** The ports of the egress gateway on the host; without them nothing is redirected. */
  readonly gateway: { readonly tcpPort: number; readonly dnsPort: number } | undefined
  readonly limits: EgressLimits
}

/** What one sandbox may send; 0 is no limit. What is over a limit is dropped. */
export interface EgressLimits {
  /** Connections that it has opened, as the host tracks them: TCP connections, and exchanges of UDP packets. */
  readonly connections: number
  readonly newConnectionsPerSecond: number
  /** A packet of the interface may be up to 64 KiB: the kernel joins those of one connection. */
  readonly packetsPerSecond: number
  readonly bytesPerSecond: number
}

export const DEFAULT_LIMITS: EgressLimits = {
  connections: 4096,
  newConnectionsPerSecond: 1000,
  packetsPerSecond: 50_000,
  bytesPerSecond: 0,
}

/** On packets that the egress gateway takes over, until they are redirected. */
const TO_GATEWAY = '0x200000'
/** On packets that a rule has let pass. A routing rule drops all others, so that nothing is forwarded while the tables are gone. */
export const PASSED = 0x40_0000

/** On packets of members of the sandbox network: the proxy and the api, where they run in containers. */
const OF_MEMBER = '0x800000'

/** Both tables of an installation have this name, in the families `bridge` and `inet`. */
export function tableName(installation: string): string {
  return networkName(installation)
}

/**
 * The rules at the host's end of the sandboxes' interfaces (egress-host-side.md 3): the table `bridge` decides who may say what, the table `inet`
 * where to. They hold for whatever a sandbox sends, packet sockets and AF_XDP included. A port that is not registered says nothing. One
 * transaction: it can be applied again at any time and leaves the registrations of sandboxes as they are.
 */
export function compileBase(rules: BaseRules): string {
  const table = tableName(rules.installation)
  return [bridgeTable(table, rules), inetTable(table, rules), setsOf(table, rules)].join('\n')
}

/** The installation of a table; undefined for a table of others. */
export function installationOf(table: string): string | undefined {
  const prefix = networkName('')
  return table.startsWith(prefix) ? table.slice(prefix.length) : undefined
}

/** The number of the kernel's log (NFLOG) of an installation. Two installations that get the same number report each other's refusals, which have no sandbox there. */
export function logGroup(table: string): number {
  return 1000 + (createHash('sha256').update(table).digest().readUInt16BE(0) % 60_000)
}

/** Deletes both tables with all registrations; absent ones too. */
export function compileDeletion(installation: string): string {
  const table = tableName(installation)
  return ['bridge', 'inet'].map((family) => `add table ${family} ${table}\ndelete table ${family} ${table}`).join('\n')
}

/** A sandbox may send this many seconds' worth at once. */
const BURST_SECONDS = 2
/** Refusals of one sandbox that are reported: a sample, so that a flood costs nothing. */
const LOGGED = '5/second burst 20 packets'
/**
 * The first packet of a connection. Only that one can be redirected: one that an older policy has let pass keeps its way, also while nobody has
 * answered it and its state is still "new".
 */
const FIRST = 'ct state new ct status & confirmed == 0'
/** Any segment but the first of a connection. Not every kernel tracks connections in a bridge. */
const TCP_ANSWER = 'tcp flags & (syn | ack) != syn'
/** Elements of sets that the kernel fills. */
const DYNAMIC = 'size 65535; flags dynamic'

function bridgeTable(table: string, { bridge: { subnet }, limits }: BaseRules): string {
  const { packetsPerSecond: packets, bytesPerSecond: bytes } = limits
  return `
table bridge ${table} {
  set ports { type ifname; }
  set bound { type ifname . ether_addr . ipv4_addr; }
  set member_ports { type ifname; }
  set members { type ifname . ether_addr . ipv4_addr; }
  set packet_rates { type ifname; ${DYNAMIC}, timeout; timeout 1m; }
  set byte_rates { type ifname; ${DYNAMIC}, timeout; timeout 1m; }
  chain prerouting { type filter hook prerouting priority -300; policy accept; }
  chain sandbox { }
  chain member { }
  chain forward { type filter hook forward priority 0; policy accept; }
}
flush chain bridge ${table} prerouting
flush chain bridge ${table} sandbox
flush chain bridge ${table} member
flush chain bridge ${table} forward
table bridge ${table} {
  chain prerouting {
    iifname @ports goto sandbox
    iifname @member_ports goto member
    ip saddr ${subnet} drop
    arp saddr ip ${subnet} drop
  }
  chain sandbox {
    ${packets === 0 ? '' : `update @packet_rates { iifname limit rate over ${packets}/second burst ${packets * BURST_SECONDS} packets } drop`}
    ${bytes === 0 ? '' : `update @byte_rates { iifname limit rate over ${bytes} bytes/second burst ${bytes * BURST_SECONDS} bytes } drop`}
    ether type ip iifname . ether saddr . ip saddr @bound accept
    ether type arp iifname . ether saddr . arp saddr ip @bound iifname . arp saddr ether . arp saddr ip @bound accept
    drop
  }
  chain member {
    ether type ip iifname . ether saddr . ip saddr @members meta mark set meta mark or ${OF_MEMBER} accept
    ether type arp iifname . ether saddr . arp saddr ip @members iifname . arp saddr ether . arp saddr ip @members accept
    drop
  }
  chain forward {
    iifname @ports oifname @member_ports ether type arp accept
    iifname @ports oifname @member_ports ether type ip ${TCP_ANSWER} accept
    iifname @ports drop
    iifname @member_ports oifname @ports accept
    ip daddr ${subnet} drop
    arp daddr ip ${subnet} drop
  }
}`
}

function inetTable(table: string, { bridge, gateway, limits }: BaseRules): string {
  const { connections, newConnectionsPerSecond: opens } = limits
  const chains = [
    'prerouting',
    'open',
    'barred',
    'lookups',
    'names',
    'connections',
    'closed',
    'denied',
    'refuse',
    'pass',
    'take',
    'to_gateway',
    'postrouting',
  ]
  return `
table inet ${table} {
  set resolvers { type ipv4_addr; flags interval; auto-merge; }
  set closed { type ipv4_addr; flags interval; auto-merge; }
  set opened { type ipv4_addr; flags interval; auto-merge; }
  set private { type ipv4_addr; flags interval; auto-merge; }
  set company { type ipv4_addr . inet_service; }
  set sources { type ipv4_addr; flags interval; auto-merge; }
  map by_source { type ipv4_addr : verdict; }
  set open_connections { type ipv4_addr; ${DYNAMIC}; }
  set refusals { type ipv4_addr; ${DYNAMIC}, timeout; timeout 1m; }
  set new_connections { type ipv4_addr; ${DYNAMIC}, timeout; timeout 1m; }
  chain prerouting { type filter hook prerouting priority mangle; policy accept; }
  chain open { }
  chain barred { }
  chain lookups { }
  chain names { }
  chain connections { }
  chain closed { }
  chain denied { }
  chain refuse { }
  chain pass { }
  chain take { }
  chain to_gateway { type nat hook prerouting priority dstnat - 1; policy accept; }
  chain postrouting { type filter hook postrouting priority 0; policy accept; }
}
${chains.map((chain) => `flush chain inet ${table} ${chain}`).join('\n')}
table inet ${table} {
  chain prerouting {
    iifname != "${bridge.interface}" accept
    meta nfproto ipv6 drop
    meta mark and ${OF_MEMBER} != 0 goto pass
    ct direction reply ct state established,related goto pass
    ${opens === 0 ? '' : `ct state new update @new_connections { ip saddr limit rate over ${opens}/second burst ${opens * BURST_SECONDS} packets } drop`}
    ${connections === 0 ? '' : `ct state new add @open_connections { ip saddr ct count over ${connections} } drop`}
    ip saddr vmap @by_source
    drop
  }
  chain open { ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 goto pass; ip daddr . tcp dport @company goto pass; jump barred; goto pass; }
  chain barred { ip daddr . tcp dport @company goto closed; ip daddr @closed goto closed; ip daddr @opened return; ip daddr @private goto closed; }
  chain lookups {
    meta l4proto { tcp, udp } th dport 53 ct status dnat goto pass
    meta l4proto { tcp, udp } th dport 53 ${FIRST} goto take
  }
  chain names {
    tcp dport { 80, 443 } ct status dnat goto pass
    tcp dport { 80, 443 } ${FIRST} goto take
  }
  chain connections {
    meta l4proto tcp ct status dnat goto pass
    meta l4proto tcp ${FIRST} goto take
    meta l4proto tcp goto denied
  }
  chain closed {
    update @refusals { ip saddr limit rate ${LOGGED} } log prefix "always_closed" group ${logGroup(table)} snaplen 64
    goto refuse
  }
  chain denied {
    update @refusals { ip saddr limit rate ${LOGGED} } log prefix "deny" group ${logGroup(table)} snaplen 64
    goto refuse
  }
  chain refuse { meta l4proto tcp reject with tcp reset; reject with icmp type admin-prohibited; }
  chain pass { meta mark set meta mark or ${PASSED} accept; }
  chain take { meta mark set meta mark or ${TO_GATEWAY} goto pass; }
  chain to_gateway {
    iifname != "${bridge.interface}" accept
    meta mark and ${TO_GATEWAY} == 0 accept
    meta mark set meta mark and 0xffdfffff
    ${gateway === undefined ? '' : `meta l4proto { tcp, udp } th dport 53 redirect to :${gateway.dnsPort}`}
    ${gateway === undefined ? '' : `meta l4proto tcp redirect to :${gateway.tcpPort}`}
    drop
  }
  chain postrouting {
    oifname != "${bridge.interface}" accept
    ct state established,related accept
    meta mark and ${OF_MEMBER} != 0 accept
    ip saddr @sources accept
    drop
  }
}`
}

function setsOf(table: string, rules: BaseRules): string {
  const sets = {
    resolvers: rules.resolvers,
    closed: [...ALWAYS_CLOSED, ...rules.closed, rules.bridge.subnet],
    opened: rules.openPrivate,
    private: PRIVATE_NETWORKS,
    sources: rules.ingressSources,
  }
  const { addresses, port } = rules.companyProxy ?? { addresses: [], port: 0 }
  const company = [
    `flush set inet ${table} company`,
    ...addresses.map((address) => `add element inet ${table} company { ${address} . ${port} }`),
  ]
  return [...Object.entries(sets).map(([name, networks]) => fillSet(`inet ${table} ${name}`, networks)), ...company].join('\n')
}

/** Replaces the elements of a set. */
export function fillSet(set: string, networks: readonly string[]): string {
  const elements = cidrsOf(networks)
  const fill = elements.length === 0 ? '' : `\nadd element ${set} { ${elements.join(', ')} }`
  return `flush set ${set}${fill}`
}
