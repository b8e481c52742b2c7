import { describe, expect, it } from 'vitest'
import type { StoredNetwork } from '@sandyard/db/schema/sandbox'
import { DEFAULT_EGRESS, type EgressPolicy } from '@sandyard/runtime/types'
import { toEgressPolicy } from './to-egress-policy.ts'

const CLOSED = { allowInternet: false } as const
const egressProxy = { address: 'proxy.example.com:1080' }
const rules = { 'a.com': { headers: { a: 'b' } } }

describe('the policy of the runtime', () => {
  it.each<[string, StoredNetwork, boolean | null, Partial<EgressPolicy>]>([
    ['nothing set', {}, null, {}],
    ['internet access', { allowPublicTraffic: false, maskRequestHost: 'a' }, true, {}],
    ['no internet access', {}, false, CLOSED],
    ['no internet access since an update', { denyInternet: true }, false, CLOSED],
    ['an update without internet access', { denyInternet: false }, false, {}],
    ['all denied', { denyOut: ['0.0.0.0/0'] }, true, CLOSED],
    ['all denied, in another spelling, and more', { denyOut: ['1.2.3.4', '9.9.9.9/0'] }, null, CLOSED],
    ['some denied', { denyOut: ['1.2.3.4', '5.6.0.0/16'] }, null, { denyOut: ['1.2.3.4', '5.6.0.0/16'] }],
    ['allowed and denied', { allowOut: ['1.2.3.4'], denyOut: ['1.2.3.0/24'] }, null, { allowOut: ['1.2.3.4'], denyOut: ['1.2.3.0/24'] }],
    ['a hole', { allowOut: ['1.2.3.4'] }, false, { ...CLOSED, allowOut: ['1.2.3.4'] }],
    ['all allowed wins over all denied', { allowOut: ['0.0.0.0/0', '1.2.3.4'], denyOut: ['0.0.0.0/0', '1.2.3.4'] }, false, {}],
    ['IPv6', { allowOut: ['2001:db8::1'], denyOut: ['::/0', '2001:db8::/32'] }, null, {}],
    ['an IPv4 address in IPv6', { denyOut: ['::ffff:1.2.3.4'] }, null, {}],
    [
      'domains',
      { allowOut: ['example.com', '*.example.org', '1.1.1.1', '2001:db8::1'], denyOut: ['0.0.0.0/0'] },
      null,
      { ...CLOSED, allowOut: ['1.1.1.1'], gateway: 'names', filterLookups: true },
    ],
    ['every domain', { allowOut: ['*'], denyOut: ['0.0.0.0/0'] }, null, { ...CLOSED, gateway: 'names', filterLookups: true }],
    ['domains beside all addresses', { allowOut: ['example.com', '0.0.0.0/0'], denyOut: ['0.0.0.0/0'] }, null, {}],
    ['DNS servers without a domain', { dnsServers: ['1.1.1.1'] }, null, {}],
    [
      'DNS servers with a domain',
      { allowOut: ['a.com'], denyOut: ['0.0.0.0/0'], dnsServers: ['1.1.1.1'] },
      null,
      { ...CLOSED, gateway: 'names', filterLookups: true },
    ],
    ['rules', { rules }, null, { gateway: 'web' }],
    ['rules and domains', { rules, allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] }, null, { ...CLOSED, gateway: 'web', filterLookups: true }],
    ['a proxy', { egressProxy }, null, { gateway: 'all' }],
    [
      'a proxy, rules and domains',
      { egressProxy, rules, allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] },
      null,
      { ...CLOSED, gateway: 'all', filterLookups: true },
    ],
    ['a proxy without internet access', { egressProxy, denyOut: ['1.1.1.1'] }, false, { ...CLOSED, gateway: 'all' }],
  ])('%s', (_name, network, flag, policy) => {
    expect(toEgressPolicy(network, flag)).toEqual({ ...DEFAULT_EGRESS, ...policy })
  })
})
