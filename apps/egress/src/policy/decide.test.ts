import { describe, expect, it } from 'vitest'
import type { StoredEgress } from '@sandyard/db/schema/sandbox'
import { closedAddresses } from './closed-addresses.ts'
import { compilePolicy } from './compile-policy.ts'
import { decide, needsName } from './decide.ts'

const HOST = '203.0.113.7'
const closed = closedAddresses({ control: ['198.51.100.0/24'], opened: ['10.20.0.0/16'], local: () => [HOST, '172.30.0.0/16'] })
const PUBLIC = '192.0.2.10'
const ALL = ['0.0.0.0/0']

type Case = readonly [network: StoredEgress, internet: boolean | null, address: string, name: string | undefined, expected: string]

describe('decide', () => {
  it.each<Case>([
    // What is closed to everybody stands above every list.
    [{}, null, '10.0.0.1', undefined, 'deny always_closed'],
    [{ allowOut: ['10.0.0.1', '*'], denyOut: ALL }, true, '10.0.0.1', 'a.example', 'deny always_closed'],
    [{ allowOut: ALL }, true, '169.254.169.254', undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, '168.63.129.16', undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, '100.100.100.200', undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, '198.51.100.9', undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, HOST, undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, '172.30.4.4', undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, '::1', undefined, 'deny always_closed'],
    [{ allowOut: ALL }, true, '::ffff:192.0.2.10', undefined, 'deny always_closed'],
    // A private network that the operator has opened is like a public one.
    [{}, null, '10.20.1.1', undefined, 'allow default'],
    [{ denyOut: ['10.0.0.0/8'] }, null, '10.20.1.1', undefined, 'deny deny'],
    // Allowed addresses, then domains, then denials.
    [{ allowOut: [PUBLIC], denyOut: ALL }, null, PUBLIC, undefined, 'allow allow_address'],
    [{ allowOut: ['192.0.2.0/28'], denyOut: [PUBLIC] }, null, PUBLIC, 'a.example', 'allow allow_address'],
    [{ allowOut: ['192.0.2.0/28'] }, false, '192.0.2.15', undefined, 'allow allow_address'],
    [{ allowOut: ['192.0.2.0/28'] }, false, '192.0.2.16', undefined, 'deny no_internet'],
    [{ allowOut: ['a.example'], denyOut: ALL }, null, PUBLIC, 'a.example', 'allow allow_domain'],
    [{ allowOut: ['A.Example.'], denyOut: ALL }, null, PUBLIC, 'a.example', 'allow allow_domain'],
    [{ allowOut: ['a.example'], denyOut: ALL }, null, PUBLIC, 'b.a.example', 'deny deny'],
    [{ allowOut: ['*.a.example'], denyOut: ALL }, null, PUBLIC, 'c.b.a.example', 'allow allow_domain'],
    [{ allowOut: ['*.a.example'], denyOut: ALL }, null, PUBLIC, 'a.example', 'deny deny'],
    [{ allowOut: ['*.a.example'], denyOut: ALL }, null, PUBLIC, 'evila.example', 'deny deny'],
    [{ allowOut: ['*'], denyOut: ALL }, null, PUBLIC, 'any.example', 'allow allow_domain'],
    [{ allowOut: ['*'], denyOut: ALL }, null, PUBLIC, undefined, 'deny deny'],
    [{ denyOut: ['192.0.2.0/24'] }, null, PUBLIC, undefined, 'deny deny'],
    [{ denyOut: ['192.0.2.0/24'] }, null, '192.0.3.1', undefined, 'allow default'],
    // Without internet access, which an update may replace.
    [{}, false, PUBLIC, undefined, 'deny no_internet'],
    [{}, null, PUBLIC, undefined, 'allow default'],
    [{ denyInternet: false }, false, PUBLIC, undefined, 'allow default'],
    [{ denyInternet: true }, true, PUBLIC, undefined, 'deny no_internet'],
    // A header rule opens nothing.
    [{ rules: { 'a.example': { headers: { a: 'b' } } }, denyOut: ALL }, null, PUBLIC, 'a.example', 'deny deny'],
    // Sandboxes have no IPv6.
    [{ denyOut: ['::/0'] }, null, PUBLIC, undefined, 'allow default'],
  ])('%j %s: %s %s is %s', (network, internet, address, name, expected) => {
    const { verdict, rule } = decide(compilePolicy(network, internet), closed, { address, port: 443, name })
    expect(`${verdict} ${rule}`).toBe(expected)
  })
})

describe('needsName', () => {
  const domains = compilePolicy({ allowOut: [PUBLIC, 'a.example'], denyOut: ALL }, null)
  const rules = compilePolicy({ rules: { 'a.example': { headers: {} } } }, null)

  it('needs the name where domains or rules count, and only on ports that name a server', () => {
    expect(needsName(domains, '192.0.2.11', 'tls')).toBe(true)
    expect(needsName(domains, '192.0.2.11', 'http')).toBe(true)
    expect(needsName(domains, '192.0.2.11', 'other')).toBe(false)
    expect(needsName(domains, PUBLIC, 'tls')).toBe(false)
    expect(needsName(rules, PUBLIC, 'tls')).toBe(true)
    expect(needsName(compilePolicy({ denyOut: ALL }, null), PUBLIC, 'tls')).toBe(false)
  })
})

describe('compilePolicy', () => {
  it('has the same key for the same settings only', () => {
    const key = (network: StoredEgress): string => compilePolicy(network, true).key
    expect(key({ denyOut: ALL })).toBe(key({ denyOut: ALL }))
    expect(key({ denyOut: ALL })).not.toBe(key({}))
  })

  it('reads the proxy, with the host of its address as the name in its certificate', () => {
    const { proxy } = compilePolicy({ egressProxy: { address: 'proxy.example:1080', username: 'u', password: 'p', tls: {} } }, true)
    expect(proxy).toMatchObject({ host: 'proxy.example', port: 1080, tls: { serverName: 'proxy.example', caCert: undefined } })
    expect(JSON.stringify(proxy)).not.toContain('"p"')
  })

  it('prefers the exact rule, then the longest wildcard', () => {
    const headers = (value: string): { headers: Record<string, string> } => ({ headers: { from: value } })
    const { rules } = compilePolicy(
      { rules: { '*.x.example': headers('wide'), '*.a.x.example': headers('long'), 'b.a.x.example': headers('exact') } },
      true,
    )
    const valueOf = (name: string): string | undefined => rules.find(name)?.[0]?.value.reveal()
    expect(['b.a.x.example', 'c.a.x.example', 'a.x.example', 'x.example'].map(valueOf)).toEqual(['exact', 'long', 'wide', undefined])
  })
})

it.each(['1.2.3.4/99', '1.2.3.4/x', '1.2.3.4/8/x'])('takes %s for a domain, as the api does, and opens no network for it', (entry) => {
  const policy = compilePolicy({ allowOut: [entry], denyOut: ['0.0.0.0/0'] }, null)
  expect(policy.allowed.has('1.2.3.4')).toBe(false)
})
