import { createHash } from 'node:crypto'
import { isAddressOrNetwork } from '@sandyard/kit/net/addresses'
import { deniesInternet } from '@sandyard/db/denies-internet'
import type { StoredEgress, StoredEgressProxy } from '@sandyard/db/schema/sandbox'
import { Secret } from '@sandyard/kit/config/secret'
import { DomainMap } from '../names/domain-map.ts'
import { NetworkSet } from './network-set.ts'

/** The SOCKS5 proxy through which a sandbox's connections leave (control-plane.md 18.6, clients-python-2.63.md 6). */
export interface ProxySettings {
  readonly host: string
  readonly port: number
  readonly credentials: { readonly username: string; readonly password: Secret } | undefined
  /** SOCKS5 inside TLS. `caCert` replaces the system's authorities. */
  readonly tls: { readonly serverName: string; readonly caCert: string | undefined } | undefined
  /** Equal for equal settings. */
  readonly key: string
}

/** A header that a rule sets. The value may be a secret. */
export interface RuleHeader {
  readonly name: string
  readonly value: Secret
}

/** The egress policy of a sandbox, compiled for decisions. */
export interface Policy {
  readonly allowInternet: boolean
  readonly allowed: NetworkSet
  readonly domains: DomainMap<true>
  readonly denied: NetworkSet
  /** The resolvers to ask; those of the host when empty. */
  readonly dnsServers: readonly string[]
  readonly proxy: ProxySettings | undefined
  readonly rules: DomainMap<readonly RuleHeader[]>
  /** Equal for equal settings. */
  readonly key: string
}

/** @param allowInternetAccess - the flag of the create request, which an update may have replaced */
export function compilePolicy(network: StoredEgress, allowInternetAccess: boolean | null): Policy {
  const { allowOut = [], denyOut = [], dnsServers = [], egressProxy, rules = {}, denyInternet } = network
  return {
    allowInternet: !deniesInternet(network, allowInternetAccess),
    allowed: new NetworkSet(allowOut.filter(isAddressOrNetwork)),
    domains: new DomainMap(allowOut.filter((entry) => !isAddressOrNetwork(entry)).map((domain) => [domain, true] as const)),
    denied: new NetworkSet(denyOut),
    dnsServers,
    proxy: egressProxy && compileProxy(egressProxy),
    rules: new DomainMap(Object.entries(rules).map(([domain, { headers }]) => [domain, compileHeaders(headers)] as const)),
    key: digest([allowOut, denyOut, dnsServers, egressProxy, rules, denyInternet, allowInternetAccess]),
  }
}

/** The settings contain secrets, so their text is not kept. */
function digest(settings: unknown): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64')
}

/** The headers that are set in requests to a server; undefined when no rule sets any. */
export function findRule({ rules }: Policy, name: string | undefined): readonly RuleHeader[] | undefined {
  const headers = name === undefined ? undefined : rules.find(name)
  return headers?.length === 0 ? undefined : headers
}

function compileHeaders(headers: Readonly<Record<string, string>>): RuleHeader[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value: new Secret(value) }))
}

function compileProxy(stored: StoredEgressProxy): ProxySettings {
  const { address, username = '', password = '', tls } = stored
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  return {
    host,
    port: Number(address.slice(colon + 1)),
    credentials: username === '' ? undefined : { username, password: new Secret(password) },
    tls: tls && { serverName: tls.serverName ?? host, caCert: tls.caCert },
    key: digest([address, username, password, tls]),
  }
}
