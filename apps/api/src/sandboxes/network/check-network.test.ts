import { describe, expect, it } from 'vitest'
import type { SandboxNetworkConfig } from '@sandyard/api-contract/sandboxes/network'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Secret } from '@sandyard/kit/config/secret'
import { checkNetwork } from './check-network.ts'
import { type EgressCapabilities, unservedEgressField } from './served-egress.ts'

const VERSION = '0.6.13'
const messageOf = (network: SandboxNetworkConfig, version: string | undefined = VERSION): string | undefined => {
  try {
    checkNetwork(network, version)
    return undefined
  } catch (err) {
    return (err as Error).message
  }
}

const NEEDS_ALL = "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic."

describe('the lists of addresses', () => {
  it.each<[SandboxNetworkConfig, string | undefined]>([
    [{}, undefined],
    [{ denyOut: ['0.0.0.0/0', '1.2.3.4', '1.2.3.0/24', '::/0', '2001:db8::1', '2001:db8::/32'] }, undefined],
    [{ denyOut: ['0.0.0.0'] }, 'invalid denied CIDR 0.0.0.0'],
    [{ denyOut: ['::'] }, 'invalid denied CIDR ::'],
    [{ denyOut: ['0:0::0'] }, 'invalid denied CIDR 0:0::0'],
    [{ denyOut: ['1.2.3.4', 'example.com'] }, 'invalid denied CIDR example.com'],
    [{ denyOut: [''] }, 'invalid denied CIDR '],
    [{ denyOut: ['1.2.3.4/33'] }, 'invalid denied CIDR 1.2.3.4/33'],
    [{ denyOut: ['1.2.3.4/'] }, 'invalid denied CIDR 1.2.3.4/'],
    [{ denyOut: ['1.2.3.4/08'] }, 'invalid denied CIDR 1.2.3.4/08'],
    [{ denyOut: ['1.2.3.4/8/8'] }, 'invalid denied CIDR 1.2.3.4/8/8'],
    [{ denyOut: ['01.2.3.4'] }, 'invalid denied CIDR 01.2.3.4'],
    [{ denyOut: ['fe80::1%eth0'] }, 'invalid denied CIDR fe80::1%eth0'],
    [{ denyOut: ['2001:db8::/129'] }, 'invalid denied CIDR 2001:db8::/129'],
    [{ allowOut: ['1.1.1.1', '8.8.8.0/24', '2001:db8::/32'] }, undefined],
    [{ allowOut: ['0.0.0.0'] }, 'invalid allowed address 0.0.0.0'],
    [{ allowOut: ['::'] }, 'invalid allowed address ::'],
    [{ allowOut: [''] }, 'invalid allowed address '],
    [{ allowOut: ['a\0.com'], denyOut: ['0.0.0.0/0'] }, 'invalid allowed address a\0.com'],
    [{ allowOut: ['\ud800.com'], denyOut: ['0.0.0.0/0'] }, 'invalid allowed address \ud800.com'],
    [{ allowOut: ['a'.repeat(255)], denyOut: ['0.0.0.0/0'] }, undefined],
    [{ allowOut: ['a'.repeat(256)], denyOut: ['0.0.0.0/0'] }, `invalid allowed address ${'a'.repeat(200)}...`],
    [{ allowOut: ['example.com'] }, NEEDS_ALL],
    [{ allowOut: ['*'] }, NEEDS_ALL],
    [{ allowOut: ['1.2.3.4/33'] }, NEEDS_ALL],
    [{ allowOut: ['*.example.com'], denyOut: ['1.1.1.1'] }, NEEDS_ALL],
    [{ allowOut: ['*.example.com', '1.1.1.1'], denyOut: ['0.0.0.0/0'] }, undefined],
    [{ allowOut: ['0.0.0.0'], denyOut: ['a'] }, 'invalid denied CIDR a'],
    [{ dnsServers: Array.from({ length: 10 }, () => '1.1.1.1') }, undefined],
    [{ dnsServers: Array.from({ length: 11 }, () => '1.1.1.1') }, 'validation error: dnsServers must not have more than 10 addresses'],
    [{ dnsServers: ['2001:db8::1'] }, "validation error: dnsServers must be IPv4 addresses, not '2001:db8::1'"],
    [{ dnsServers: ['1.1.1.1/32'] }, "validation error: dnsServers must be IPv4 addresses, not '1.1.1.1/32'"],
    [{ httpsPorts: [443, 8443] }, undefined],
    [{ httpsPorts: [49_983] }, 'validation error: httpsPorts must not contain 49983'],
  ])('%j: %s', (network, message) => {
    expect(messageOf(network)).toBe(message)
  })

  it('shortens long entries in its messages', () => {
    expect(messageOf({ denyOut: ['x'.repeat(1000)] })).toHaveLength(223)
  })
})

describe('maskRequestHost', () => {
  it.each([
    'localhost',
    'localhost:3000',
    'localhost:${PORT}',
    '${PORT}.example.com',
    'my_app.example.com',
    '127.0.0.1:80',
    '[::1]:${PORT}',
    '[::1]',
  ])('accepts %s', (value) => {
    expect(messageOf({ maskRequestHost: value })).toBeUndefined()
  })

  it.each([
    '',
    ':80',
    'a b',
    'a:b',
    'a:99999',
    'a:80:80',
    'http://a',
    'a/b',
    'user@a',
    'a\r\nX-Injected: 1',
    '${port}',
    'a:$PORT',
    'x'.repeat(263),
    'a\ud800',
  ])('refuses %j', (value) => {
    expect(messageOf({ maskRequestHost: value })).toMatch(/^mask request host is not valid: /)
  })

  it.each([
    ['exämple.com', 'exämple.com'],
    ['日本.jp:3000', '日本.jp'],
    ['日本.jp:${PORT}', '日本.jp'],
  ])('refuses %s, which is not ASCII', (value, host) => {
    expect(messageOf({ maskRequestHost: value })).toBe(`mask request host '${host}' is not ASCII. Please use ASCII characters only.`)
  })
})

describe('rules', () => {
  const withHeaders = (headers: Record<string, string>, domain = 'a.com') => ({ [domain]: [{ transform: { headers } }] })
  const many = (count: number, value = 'v') => Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}`, value]))
  const secrets = (count: number) => Array.from({ length: count }, (_, at) => `\${e2b.secrets.s${at}}`).join('')
  const MALFORMED = 'Network transform header contains a malformed E2B placeholder.'

  it.each<[string, SandboxNetworkConfig['rules'], string | undefined]>([
    ['no rules', {}, undefined],
    ['a rule', withHeaders({ 'X-A': 'b c\tä' }), undefined],
    ['a rule without headers', { '*.A.com': [{}], 'b.com': [] }, undefined],
    [
      '11 domains',
      Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`d${at}.com`, []])),
      'Network rules can have at most 10 domains.',
    ],
    ['an empty domain', { '': [] }, 'Rule domain must not be empty.'],
    ['129 characters', { ['a'.repeat(129)]: [] }, `Rule domain "${'a'.repeat(129)}" exceeds maximum length of 128 characters.`],
    ['a bare wildcard', { '*': [] }, 'Rule domain "*" is not a valid domain name.'],
    ['an inner wildcard', { 'a.*.com': [] }, 'Rule domain "a.*.com" is not a valid domain name.'],
    ['a quote', { 'a".com': [] }, 'Rule domain "a\\".com" is not a valid domain name.'],
    ['a long label', { ['a'.repeat(64)]: [] }, `Rule domain "${'a'.repeat(64)}" is not a valid domain name.`],
    ['two rules', { 'a.com': [{}, {}] }, 'Domain "a.com" can have at most 1 transform rule.'],
    ['two rules in two spellings', { 'a.com': [{}], 'A.com': [] }, 'Domain "A.com" can have at most 1 transform rule.'],
    ['20 headers', withHeaders(many(20)), undefined],
    ['21 headers', withHeaders(many(21)), 'Domain "a.com" can have at most 20 headers per rule.'],
    ['an empty name', withHeaders({ '': 'b' }), 'Header name in rule for domain "a.com" must not be empty.'],
    [
      'a name with a space',
      withHeaders({ 'a b': 'c' }),
      'Header name "a b" in rule for domain "a.com" must contain only valid HTTP token characters.',
    ],
    [
      'a name of 65 characters',
      withHeaders({ ['a'.repeat(65)]: 'c' }),
      `Header name "${'a'.repeat(65)}" in rule for domain "a.com" exceeds maximum length of 64 characters.`,
    ],
    ['a line break', withHeaders({ a: 'b\r\nc: d' }), 'Value for header "a" in rule for domain "a.com" contains invalid characters.'],
    ['half a character', withHeaders({ a: '\ud800' }), 'Value for header "a" in rule for domain "a.com" contains invalid characters.'],
    ['a value of 2048 characters', withHeaders({ a: 'x'.repeat(2048) }), undefined],
    [
      'a value of 2049 characters',
      withHeaders({ a: 'x'.repeat(2049) }),
      'Value for header "a" in rule for domain "a.com" exceeds maximum length of 2048 characters.',
    ],
    ['placeholders', withHeaders({ a: 'Bearer ${e2b.secrets.My_key-1} ${e2b.identity.tokens.t} ${HOME}' }), undefined],
    ['a placeholder without an end', withHeaders({ a: '${e2b.secrets.a' }), MALFORMED],
    ['a placeholder without a name', withHeaders({ a: '${e2b.secrets.}' }), MALFORMED],
    ['a placeholder of another kind', withHeaders({ a: '${e2b.other.a}' }), MALFORMED],
    ['32 secrets', withHeaders(Object.assign(many(2, secrets(16)), { b: secrets(32) })), undefined],
    ['33 secrets', withHeaders({ a: secrets(33) }), 'Rule domain "a.com" references more than 32 secrets.'],
  ])('%s', (_name, rules, message) => {
    expect(messageOf({ ...(rules && { rules }) })).toBe(message)
  })

  it.each([
    ['0.5.12', '0.5.12'],
    ['0.5.9', '0.5.9'],
    [undefined, ''],
  ])('need a daemon newer than %s', (version, shown) => {
    const caught = (): void => checkNetwork({ rules: { 'a.com': [] } }, version)
    expect(caught).toThrow(
      `network transform rules are not supported; template must be rebuilt. Template envd version is ${shown}, must be at least 0.5.13`,
    )
    expect(() => checkNetwork({ rules: {} }, version)).not.toThrow()
    expect(messageOf({ rules: { 'a.com': [] } }, '0.5.13')).toBeUndefined()
  })
})

describe('the egress proxy', () => {
  const address = 'proxy.example.com:1080'
  const caCert = sandboxAuthority(new Secret('seed'), 'i1').certificatePem
  it.each<[NonNullable<SandboxNetworkConfig['egressProxy']>, string | undefined]>([
    [{ address }, undefined],
    [{ address: 'PROXY.example.com:1080', username: 'u', password: 'p', tls: { enabled: true, serverName: 'a.com', caCert } }, undefined],
    [{ address: '192.0.2.1:1080', tls: { enabled: false } }, undefined],
    [{ address: '[2001:db8::1]:1080' }, 'the address must be IPv4 or a name'],
    [{ address: '[::ffff:192.0.2.1]:1080' }, 'the address must be IPv4 or a name'],
    [{ address: '' }, 'address must be host:port'],
    [{ address: 'proxy.example.com' }, 'address must be host:port'],
    [{ address: 'socks5://proxy:1080' }, 'address must be host:port'],
    [{ address: '2001:db8::1:1080' }, 'address must be host:port'],
    [{ address: 'a b:1080' }, 'address must be host:port'],
    [{ address: 'proxy:0' }, 'the port of the address must be 1 to 65535'],
    [{ address: 'proxy:65536' }, 'the port of the address must be 1 to 65535'],
    [{ address: '10.1.2.3:1080' }, 'the address is internal'],
    [{ address: '169.254.169.254:80' }, 'the address is internal'],
    [{ address: '[::1]:80' }, 'the address is internal'],
    [{ address: '[::ffff:127.0.0.1]:80' }, 'the address is internal'],
    [{ address: 'localhost:80' }, 'the address is internal'],
    [{ address, password: 'p' }, 'a password needs a username'],
    [{ address, username: 'ä'.repeat(128) }, 'username must not have more than 255 bytes'],
    [{ address, username: 'u', password: 'x'.repeat(256) }, 'password must not have more than 255 bytes'],
    [{ address, tls: { enabled: false, serverName: 'a.com' } }, 'tls.serverName and tls.caCert need tls.enabled'],
    [{ address, tls: { enabled: false, caCert } }, 'tls.serverName and tls.caCert need tls.enabled'],
    [{ address, tls: { enabled: true, serverName: 'a'.repeat(254) } }, 'tls.serverName must be a name of at most 253 characters'],
    ...['no', caCert.replaceAll(/[a-z]/g, 'A'), `${caCert}${'\n'.repeat(8192)}`, `${caCert}\0`].map(
      (bad): [NonNullable<SandboxNetworkConfig['egressProxy']>, string] => [
        { address, tls: { enabled: true, caCert: bad } },
        'tls.caCert must be a certificate in PEM of at most 8192 bytes',
      ],
    ),
    [{ address, username: 'a\0' }, 'username must not contain NUL or unpaired surrogates'],
    [{ address, username: 'a', password: '\ud800' }, 'password must not contain NUL or unpaired surrogates'],
  ])('%j: %s', (egressProxy, detail) => {
    expect(messageOf({ egressProxy })).toBe(detail && `Invalid egress proxy config: ${detail}`)
  })
})

const NONE: EgressCapabilities = { egressPolicies: false, egressGateway: undefined }
const ADDRESSES: EgressCapabilities = { egressPolicies: true, egressGateway: undefined }
const ALL: EgressCapabilities = { egressPolicies: true, egressGateway: '172.20.0.1' }
const rulesOf = (value: string) => ({ 'a.com': [{ transform: { headers: { a: value } } }] })

/** By what the runtime has: nothing, policies of addresses, and the gateway. */
it.each<[SandboxNetworkConfig, string | undefined, string | undefined, string | undefined]>([
  [{}, undefined, undefined, undefined],
  [{ allowOut: ['1.1.1.1'], denyOut: [], egressProxy: null, dnsServers: [], rules: {} }, undefined, undefined, undefined],
  [{ denyOut: ['1.1.1.1'] }, 'denyOut', undefined, undefined],
  [{ allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] }, 'denyOut', 'allowOut', undefined],
  [{ egressProxy: { address: 'a:1' } }, 'egressProxy', 'egressProxy', undefined],
  [{ dnsServers: ['1.1.1.1'] }, 'dnsServers', 'dnsServers', undefined],
  [{ rules: { 'a.com': [] } }, 'rules', 'rules', undefined],
  [{ rules: rulesOf('Bearer key ${HOME}') }, 'rules', 'rules', undefined],
  [{ rules: rulesOf('Bearer ${e2b.secrets.key}') }, 'rules', 'rules', undefined],
  [{ rules: rulesOf('${e2b.identity.tokens.t}') }, 'rules', 'rules', undefined],
])('the unsupported field of %j is %s, %s or %s', (network, none, addresses, all) => {
  expect([NONE, ADDRESSES, ALL].map((has) => unservedEgressField(network, has))).toEqual([none, addresses, all])
})
