import { AppError } from '@sandyard/kit/errors/app-error'
import ipaddr from 'ipaddr.js'

/** All inputs of the rules of one sandbox. Networks and addresses are IPv4, as `10.0.0.0/8` or `10.1.2.3`. */
export interface EgressRules {
  /** The sandbox's resolvers; port 53 is open at any address, other ports are not. */
  readonly resolvers: readonly string[]
  /** The host's addresses, the sandbox network and the control network: never open. */
  readonly closed: readonly string[]
  /** Private networks that the operator has opened. */
  readonly openPrivate: readonly string[]
  /** The sources of allowed new connections: the proxy and the api. */
  readonly ingressSources: readonly string[]
}

/**
 * Closed under every policy: this network, shared address space (metadata of Alibaba), loopback on another interface, link-local
 * (metadata of most clouds), protocol assignments (metadata of Oracle), Azure's host agent, multicast, reserved and broadcast.
 * Documentation and benchmark networks stay open, because package mirrors use them.
 */
const ALWAYS_CLOSED = '0.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 192.0.0.0/24 168.63.129.16/32 224.0.0.0/4 240.0.0.0/4'.split(' ')

/** RFC 1918. */
const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']

/**
 * The nftables file of one sandbox. It replaces our table and no other: the engine's resolver has its own rules in the
 * same namespace. Refused packets are answered, so that programs fail at once instead of waiting.
 *
 * @throws AppError `invalid_argument` that names the invalid address
 */
export function compileRules(rules: EgressRules): string {
  const sets = setsOf(rules)
  const has = (name: keyof typeof sets, rule: string): string => (sets[name].length > 0 ? rule : '')
  const refuse = 'reject with icmp type admin-prohibited;'
  return joined([
    'table inet sandyard;',
    'delete table inet sandyard;',
    'table inet sandyard {',
    ...Object.entries(sets).map(([name, networks]) => addressSet(name, networks)),
    '  chain output {',
    '    type filter hook output priority filter; policy accept;',
    '    oifname "lo" accept;',
    '    meta nfproto ipv6 reject with icmpv6 type admin-prohibited;',
    '    ct state established,related accept;',
    has('resolvers', '    ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept;'),
    `    ip daddr @closed ${refuse}`,
    has('opened', '    ip daddr @opened accept;'),
    `    ip daddr @private ${refuse}`,
    '  };',
    '  chain input {',
    '    type filter hook input priority filter; policy drop;',
    '    iifname "lo" accept;',
    '    meta nfproto ipv6 drop;',
    '    ct state established,related accept;',
    has('sources', '    ip saddr @sources accept;'),
    '  };',
    '};',
  ])
}

/** The interface of a sandbox on its network. */
export interface NetworkPort {
  readonly address: string
  readonly mac: string
}

const MAC = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/

/**
 * The same rules for frames. Steps of the engine's builder may open raw sockets, which the rules for packets do not cover. So these
 * rules close the same networks, and drop frames with a forged sender. Only answers go to the proxy and the api. Refused frames are
 * dropped. Needs Linux 5.16.
 */
export function compileFrameRules(rules: EgressRules, { address, mac }: NetworkPort): string {
  if (!MAC.test(mac)) throw new AppError('invalid_argument', `"${mac}" is not a hardware address.`)
  const sets = setsOf(rules)
  const has = (name: keyof typeof sets, rule: string): string => (sets[name].length > 0 ? rule : '')
  const own = checked(address)
  return joined([
    'table netdev sandyard;',
    'delete table netdev sandyard;',
    'table netdev sandyard {',
    ...Object.entries(sets).map(([name, networks]) => addressSet(name, networks)),
    '  chain egress {',
    '    type filter hook egress device "eth0" priority filter; policy drop;',
    `    ether saddr != ${mac} drop;`,
    `    arp saddr ip ${own} arp saddr ether ${mac} accept;`,
    '    ether type != ip drop;',
    `    ip saddr != ${own} drop;`,
    has('resolvers', '    ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept;'),
    has('sources', '    ip daddr @sources tcp flags & (syn | ack) != syn accept;'),
    '    ip daddr @closed drop;',
    has('opened', '    ip daddr @opened accept;'),
    '    ip daddr @private drop;',
    '    accept;',
    '  };',
    '};',
  ])
}

function setsOf(rules: EgressRules): Record<'closed' | 'opened' | 'private' | 'resolvers' | 'sources', readonly string[]> {
  return {
    closed: [...ALWAYS_CLOSED, ...rules.closed],
    opened: rules.openPrivate,
    private: PRIVATE,
    resolvers: rules.resolvers,
    sources: rules.ingressSources,
  }
}

function joined(lines: readonly string[]): string {
  return lines
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('')
}

/** Sorted and without duplicates, so that equal rules are equal texts. No text for an empty set, which would be a syntax error. */
function addressSet(name: string, networks: readonly string[]): string {
  const elements = [...new Set(networks.map(checked))].sort().join(', ')
  return elements === '' ? '' : `  set ${name} { type ipv4_addr; flags interval; auto-merge; elements = { ${elements} }; };`
}

function checked(text: string): string {
  const cidr = parseCidr(text)
  if (cidr === undefined) throw new AppError('invalid_argument', `"${text}" is not an IPv4 address or network.`)
  return cidr
}

/** `"10.1.2.3/8"` to `"10.0.0.0/8"`, `"10.1.2.3"` to `"10.1.2.3/32"`. Undefined when the text is not an IPv4 network or address. */
export function parseCidr(text: string): string | undefined {
  const cidr = text.includes('/') ? text : `${text}/32`
  if (!ipaddr.IPv4.isValidCIDRFourPartDecimal(cidr)) return undefined
  const [, bits] = ipaddr.IPv4.parseCIDR(cidr)
  return `${ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()}/${bits}`
}
