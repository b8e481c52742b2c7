import type { EgressDecision } from '@sandyard/dashboard-contract/network'
import { expect, it } from 'vitest'
import { entriesOf, isChangeable, learnedPolicy, updateOf, updateWith } from './policy-update.ts'

const view = {
  allowInternetAccess: true,
  allowPublicTraffic: true,
  allowOut: ['a.org'],
  denyOut: ['0.0.0.0/0'],
  dnsServers: [],
  proxyAddress: null,
  rules: [],
}

it('adds a host and keeps the rest of the policy', () => {
  expect(updateWith(view, 'b.org')).toEqual({ allowOut: ['a.org', 'b.org'], denyOut: ['0.0.0.0/0'] })
  expect(updateWith(view, 'a.org').allowOut).toEqual(['a.org'])
  expect(updateOf({ ...view, allowInternetAccess: false, dnsServers: ['9.9.9.9'] })).toEqual({
    allowOut: ['a.org'],
    denyOut: ['0.0.0.0/0'],
    dnsServers: ['9.9.9.9'],
    allow_internet_access: false,
  })
})

it('leaves a policy alone whose secrets it cannot see', () => {
  expect(isChangeable(view)).toBe(true)
  expect(isChangeable({ ...view, proxyAddress: 'proxy:1080' })).toBe(false)
  expect(isChangeable({ ...view, rules: [{ host: 'a.org', headerNames: ['Authorization'] }] })).toBe(false)
})

it('learns a policy from what was reached', () => {
  const decision = (verdict: 'allow' | 'deny', host: string | null, address: string): EgressDecision => ({
    id: address,
    at: '',
    verdict,
    rule: '',
    host,
    address,
    protocol: 'tcp',
    port: 443,
    connections: 1,
    toAllow: null,
  })
  const decisions = [
    decision('allow', 'b.org', '1'),
    decision('allow', null, '9.9.9.9'),
    decision('deny', 'x.org', '2'),
    decision('allow', 'b.org', '3'),
  ]
  expect(learnedPolicy(decisions)).toEqual({ allowOut: ['9.9.9.9', 'b.org'], denyOut: ['0.0.0.0/0'] })
})

it('reads entries of lines', () => {
  expect(entriesOf(' a.org\n\nb.org, 10.0.0.0/8\na.org ')).toEqual(['a.org', 'b.org', '10.0.0.0/8'])
})
