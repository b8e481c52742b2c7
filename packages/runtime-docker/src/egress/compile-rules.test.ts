import { BlockList } from 'node:net'
import { describe, expect, it } from 'vitest'
import { compileFrameRules, compileRules, parseCidr, type EgressRules } from './compile-rules.ts'

const usual: EgressRules = {
  resolvers: ['10.255.255.53'],
  closed: ['127.0.0.1', '192.0.2.2', '172.18.0.1', '172.18.0.0/16'],
  openPrivate: [],
  ingressSources: ['172.18.0.1'],
}

describe('compileRules', () => {
  it('writes the default rules', () => {
    expect(compileRules(usual)).toBe(`table inet sandyard;
delete table inet sandyard;
table inet sandyard {
  set closed { type ipv4_addr; flags interval; auto-merge; elements = { 0.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 127.0.0.1/32, 168.63.129.16/32, 169.254.0.0/16, 172.18.0.0/16, 172.18.0.1/32, 192.0.0.0/24, 192.0.2.2/32, 224.0.0.0/4, 240.0.0.0/4 }; };
  set private { type ipv4_addr; flags interval; auto-merge; elements = { 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 }; };
  set resolvers { type ipv4_addr; flags interval; auto-merge; elements = { 10.255.255.53/32 }; };
  set sources { type ipv4_addr; flags interval; auto-merge; elements = { 172.18.0.1/32 }; };
  chain output {
    type filter hook output priority filter; policy accept;
    oifname "lo" accept;
    meta nfproto ipv6 reject with icmpv6 type admin-prohibited;
    ct state established,related accept;
    ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept;
    ip daddr @closed reject with icmp type admin-prohibited;
    ip daddr @private reject with icmp type admin-prohibited;
  };
  chain input {
    type filter hook input priority filter; policy drop;
    iifname "lo" accept;
    meta nfproto ipv6 drop;
    ct state established,related accept;
    ip saddr @sources accept;
  };
};
`)
  })

  it('opens private networks after the networks that are always closed', () => {
    const rules = compileRules({ ...usual, openPrivate: ['10.1.2.3/16', '192.168.0.0/16', '10.1.0.0/16'] })
    expect(rules).toContain('set opened { type ipv4_addr; flags interval; auto-merge; elements = { 10.1.0.0/16, 192.168.0.0/16 }; };')
    const order = ['@resolvers', '@closed reject', '@opened accept', '@private reject'].map((rule) => rules.indexOf(rule))
    expect(order).toEqual(order.toSorted((left, right) => left - right))
    expect(order).not.toContain(-1)
  })

  it('writes no rule for an empty set', () => {
    const rules = compileRules({ resolvers: [], closed: [], openPrivate: [], ingressSources: [] })
    expect(rules).not.toMatch(/resolvers|opened|sources/)
  })

  it.for(['0.0.0.0', '100.100.100.200', '127.0.0.1', '168.63.129.16', '169.254.169.254', '192.0.0.192', '224.0.0.1', '255.255.255.255'])(
    'keeps %s closed under every policy',
    (address) => {
      expect(networksOf(compileRules(usual), 'closed').check(address)).toBe(true)
    },
  )

  it.for(['203.0.113.80', '198.51.100.10', '192.0.2.80', '8.8.8.8', '172.32.0.1', '11.0.0.1'])('leaves %s open', (address) => {
    expect(networksOf(compileRules(usual), 'closed|private').check(address)).toBe(false)
  })

  it.for(['10.0.0.0/33', 'fd00::/8', 'example.org', '10.0.0', '10.0.0.1; flush ruleset', ''])('refuses "%s"', (network) => {
    for (const key of ['resolvers', 'closed', 'openPrivate', 'ingressSources'] as const) {
      expect(() => compileRules({ ...usual, [key]: [network] })).toThrow(`"${network}" is not an IPv4 address or network.`)
    }
  })
})

describe('compileFrameRules', () => {
  const port = { address: '172.18.0.9', mac: '02:42:ac:12:00:09' }

  it('closes the same networks to frames and drops frames with a forged sender', () => {
    const rules = compileFrameRules({ ...usual, openPrivate: ['10.7.0.0/16'] }, port)
    expect(rules.slice(rules.indexOf('  chain egress'))).toBe(`  chain egress {
    type filter hook egress device "eth0" priority filter; policy drop;
    ether saddr != 02:42:ac:12:00:09 drop;
    arp saddr ip 172.18.0.9/32 arp saddr ether 02:42:ac:12:00:09 accept;
    ether type != ip drop;
    ip saddr != 172.18.0.9/32 drop;
    ip daddr @resolvers meta l4proto { tcp, udp } th dport 53 accept;
    ip daddr @sources tcp flags & (syn | ack) != syn accept;
    ip daddr @closed drop;
    ip daddr @opened accept;
    ip daddr @private drop;
    accept;
  };
};
`)
    expect(rules).toContain(compileRules(usual).match(/ {2}set closed .*/)?.[0])
  })

  it.for([{ address: '172.18.0.0/33' }, { address: '' }, { mac: '' }, { mac: '02:42:ac:12:00:09; flush ruleset' }])(
    'refuses %j',
    (change) => {
      expect(() => compileFrameRules(usual, { ...port, ...change })).toThrow(/is not an? /)
    },
  )
})

it.for<[string, string | undefined]>([
  ['10.1.2.3', '10.1.2.3/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['192.168.255.255/23', '192.168.254.0/23'],
  ['255.255.255.255/1', '128.0.0.0/1'],
  ['1.2.3.4/0', '0.0.0.0/0'],
  ['1.2.3.4/33', undefined],
  ['1.2.3.4/', undefined],
  ['1.2.3.4/8/8', undefined],
  ['1.2.3', undefined],
  ['1.2.3.256', undefined],
  ['::1', undefined],
  ['', undefined],
])('%s is the network %s', ([text, network]) => {
  expect(parseCidr(text)).toBe(network)
})

/** All networks of the named sets in the rules. */
function networksOf(rules: string, sets: string): BlockList {
  const list = new BlockList()
  for (const [, elements = ''] of rules.matchAll(new RegExp(`set (?:${sets}) .*? elements = \\{ (.*?) \\}`, 'g'))) {
    for (const network of elements.split(', ')) {
      const [base = '', bits] = network.split('/')
      list.addSubnet(base, Number(bits))
    }
  }
  return list
}
