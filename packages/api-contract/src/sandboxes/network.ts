import { Type, type Static } from 'typebox'

/** Addresses, networks and domains of one list. */
const MAX_ENTRIES = 1000

const entries = (description: string) => Type.Optional(Type.Array(Type.String(), { maxItems: MAX_ENTRIES, description }))

export const SandboxEgressProxyConfig = Type.Object(
  {
    address: Type.String({ description: 'host:port of a SOCKS5 proxy' }),
    username: Type.Optional(Type.String()),
    password: Type.Optional(Type.String()),
    tls: Type.Optional(
      Type.Object({
        enabled: Type.Boolean({ description: 'Speak TLS to the proxy' }),
        serverName: Type.Optional(Type.String({ description: 'Name in its certificate; default: the host of the address' })),
        caCert: Type.Optional(Type.String({ description: 'Certificate authority in PEM, instead of those of the system' })),
      }),
    ),
  },
  { title: 'SandboxEgressProxyConfig' },
)
export type SandboxEgressProxyConfig = Static<typeof SandboxEgressProxyConfig>

export const SandboxNetworkRules = Type.Record(
  Type.String(),
  Type.Array(
    Type.Object({
      transform: Type.Optional(Type.Object({ headers: Type.Optional(Type.Record(Type.String(), Type.String())) })),
    }),
  ),
  { description: 'By domain: the headers that requests to it get' },
)
export type SandboxNetworkRules = Static<typeof SandboxNetworkRules>

/** The fields of egress, which an update replaces. */
const egress = {
  allowOut: entries('Addresses, networks and domains that are allowed whatever is denied'),
  denyOut: entries('Addresses and networks that are denied'),
  egressProxy: Type.Optional(Type.Union([SandboxEgressProxyConfig, Type.Null()])),
  dnsServers: entries('IPv4 addresses of DNS servers for allowed domains, at most 10'),
  rules: Type.Optional(SandboxNetworkRules),
}

/** `network` of a create request (control-plane.md 18.3). */
export const SandboxNetworkConfig = Type.Object(
  {
    ...egress,
    allowPublicTraffic: Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { default: true })),
    maskRequestHost: Type.Optional(Type.String({ description: 'host[:port] that services see; ${PORT} is the requested port' })),
    httpsPorts: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
        maxItems: MAX_ENTRIES,
        description: 'Ports whose services speak TLS, which is not verified',
      }),
    ),
  },
  { title: 'SandboxNetworkConfig' },
)
export type SandboxNetworkConfig = Static<typeof SandboxNetworkConfig>

/** Body of `PUT /sandboxes/{sandboxID}/network` (control-plane.md 6.11). */
export const SandboxNetworkUpdate = Type.Object(
  { ...egress, allow_internet_access: Type.Optional(Type.Boolean({ description: 'False denies all egress' })) },
  { title: 'SandboxNetworkUpdateConfig' },
)
export type SandboxNetworkUpdate = Static<typeof SandboxNetworkUpdate>
