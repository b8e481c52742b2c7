import type { Probe } from '../probe.ts'

/** A variable of the environment; its value differs between a sandbox and its control. */
const given = (name: string): string => `target('${name}')`
const OFFLINE: Pick<Probe, 'places'> = { places: ['sandbox without internet'] }

function tcp(id: string, title: string, [host, port]: readonly [string, string], change: Partial<Probe> = {}): Probe {
  return { id, title, perl: `dial(${host}, ${port});`, ...change }
}

function udp(id: string, title: string, [host, port]: readonly [string, string], change: Partial<Probe> = {}): Probe {
  return { id, title, perl: `ask(${host}, ${port}, marker());`, ...change }
}

function dns(id: string, title: string, host: string, change: Partial<Probe> = {}): Probe {
  return { id, title, perl: `ask(${host}, 53, dns_query());`, ...change }
}

/** Must be open: a place without a network would pass every probe. */
export const PUBLIC_ADDRESS: Probe = tcp('public-address', 'a public address, which is open', [given('PUBLIC'), '80'], { mustBeOpen: true })

/** Addresses that are closed under every policy. A witness on another network of the engine reaches each of them. */
export const NETWORK_PROBES: readonly Probe[] = [
  tcp('metadata', 'the metadata service of most clouds', [given('METADATA'), '80']),
  tcp('metadata-shared', 'the metadata service in shared address space', [given('SHARED'), '80']),
  udp('metadata-udp', 'the metadata address by UDP', [given('METADATA'), '123']),
  tcp('private-network', 'a private network of the operator', [given('PRIVATE'), '80']),
  tcp('engine-port-gateway', "the engine's port by the gateway", ['gateway()', given('ENGINE_PORT')]),
  tcp('engine-port-host', "the engine's port by the host's address", [given('HOST_ADDRESS'), given('ENGINE_PORT')]),
  tcp('engine-tls-port', "the engine's port with TLS by the host's address", [given('HOST_ADDRESS'), given('ENGINE_TLS_PORT')]),
  tcp('host-port-gateway', 'a server of the host by the gateway', ['gateway()', given('HOST_PORT')]),
  tcp('host-port-address', "a server of the host by the host's address", [given('HOST_ADDRESS'), given('HOST_PORT')]),
  tcp('host-port-bridge', "a server of the host by another bridge's address", [given('BRIDGE_ADDRESS'), given('HOST_PORT')]),
  udp('host-udp', 'a server of the host by UDP', [given('HOST_ADDRESS'), given('HOST_UDP_PORT')]),
  udp('host-udp-gateway', 'a server of the host by UDP, by the gateway', ['gateway()', given('HOST_UDP_PORT')]),
  tcp('published-address', "a published port of another container by the host's address", [given('HOST_ADDRESS'), given('PUBLISHED_PORT')]),
  tcp('published-gateway', 'a published port of another container by the gateway', ['gateway()', given('PUBLISHED_PORT')]),
  tcp('other-container', 'a container on another network by its address', [given('OTHER_CONTAINER'), given('SERVICE_PORT')]),
  tcp('sibling-service', 'a server in another sandbox', [given('SIBLING'), given('SERVICE_PORT')]),
  tcp('sibling-daemon', 'the daemon of another sandbox', [given('SIBLING'), given('DAEMON_PORT')]),
  udp('sibling-udp', 'another sandbox by UDP', [given('SIBLING'), given('SERVICE_PORT')]),
  dns('dns-private', 'another resolver in a private network', given('PRIVATE')),
  tcp('dns-private-tcp', 'another resolver in a private network by TCP', [given('PRIVATE'), '53']),
  dns('dns-metadata', 'the resolver at the metadata address', given('METADATA')),
]

/** What is closed without internet access only. */
export const OFFLINE_PROBES: readonly Probe[] = [
  tcp('offline-tcp', 'without internet: a public address', [given('PUBLIC'), '80'], OFFLINE),
  udp('offline-udp', 'without internet: a public address by UDP (QUIC)', [given('PUBLIC'), '443'], OFFLINE),
  dns('offline-dns', 'without internet: tunnel through a public resolver', given('PUBLIC'), OFFLINE),
  tcp('offline-dns-tcp', 'without internet: tunnel through a public resolver by TCP', [given('PUBLIC'), '53'], OFFLINE),
  dns('offline-own-resolver', 'without internet: tunnel through the own resolver', given('RESOLVER'), OFFLINE),
  {
    id: 'offline-names',
    title: 'without internet: tunnel through the resolver of the C library',
    perl: `my @found = gethostbyname("data.$ENV{PLACE}.tunnel.example.org"); @found ? opened('the name has an address') : blocked('no address');`,
    ...OFFLINE,
  },
]
