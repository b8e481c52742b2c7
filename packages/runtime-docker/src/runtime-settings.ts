import { env, SettingProblem, type ConfigOf } from '@sandyard/kit/config/parse-config'
import { OUTBOUND_SETTINGS, outboundOf } from '@sandyard/kit/outbound/outbound'
import { DEFAULT_LIMITS } from './egress/base-rules.ts'
import type { DockerRuntimeOptions } from './runtime-options.ts'
import { LOCAL_DRIVER, readDriverOptions } from './volumes/volume-driver.ts'

/** The settings of this runtime. Apps include them in their own settings. */
export const dockerRuntimeSettings = {
  dockerHost: env.text('DOCKER_HOST', { default: undefined, doc: 'The Docker engine: unix:///path or tcp://host:port.' }),
  sandboxRuntime: env.text('SANDYARD_SANDBOX_RUNTIME', {
    default: undefined,
    doc: "The OCI runtime of sandboxes, which the engine must have; the engine's default when absent.",
  }),
  pidsLimit: env.integer('SANDYARD_PIDS_LIMIT', { default: 4096, doc: 'How many processes and threads a sandbox may have.' }),
  resolvers: env.list('SANDYARD_RESOLVERS', {
    default: [],
    doc: "IPv4 resolvers of sandboxes; those of the engine's host when empty.",
  }),
  egressAllowPrivate: env.list('SANDYARD_EGRESS_ALLOW_PRIVATE', {
    default: [],
    doc: 'Private IPv4 networks (RFC 1918) that sandboxes may reach. None by default.',
  }),
  controlNetworks: env.list('SANDYARD_CONTROL_NETWORKS', {
    default: [],
    doc: 'IPv4 networks of the control plane, which sandboxes never reach. The addresses of the host are always among them.',
  }),
  ingressSources: env.list('SANDYARD_INGRESS_SOURCES', {
    default: [],
    doc: 'IPv4 addresses from which the proxy and the api connect to sandboxes; the host when empty.',
  }),
  networkMembers: env.text('SANDYARD_NETWORK_MEMBERS', {
    default: undefined,
    doc: 'The value of the label `sandyard.member` of the containers in which the api and the proxy run. They join the sandbox network; set by the Compose file.',
  }),
  registries: env.list('SANDYARD_REGISTRIES', {
    default: [],
    doc: 'The registries whose images builds may use, as written in references: docker.io, registry.example:5000; without a port: every port. * means every public registry, which is the default. A registry at a loopback, private or link-local address is used only when it is listed.',
  }),
  egressConnections: env.limit('SANDYARD_EGRESS_CONNECTIONS', {
    default: DEFAULT_LIMITS.connections,
    doc: 'Connections that one sandbox may have open to the network, as the host tracks them; 0 is no limit. More are dropped.',
  }),
  egressNewConnections: env.limit('SANDYARD_EGRESS_NEW_CONNECTIONS', {
    default: DEFAULT_LIMITS.newConnectionsPerSecond,
    doc: 'Connections that one sandbox may open in a second, after a burst of two seconds; 0 is no limit. More are dropped.',
  }),
  egressPackets: env.limit('SANDYARD_EGRESS_PACKETS', {
    default: DEFAULT_LIMITS.packetsPerSecond,
    doc: 'Packets that one sandbox may send in a second, after a burst of two seconds; 0 is no limit. More are dropped.',
  }),
  egressBandwidth: env.size('SANDYARD_EGRESS_BANDWIDTH', {
    default: DEFAULT_LIMITS.bytesPerSecond,
    doc: 'Bytes that one sandbox may send in a second, after a burst of two seconds; 0 is no limit. More are dropped.',
  }),
  volumeDriver: env.text('SANDYARD_VOLUME_DRIVER', {
    default: LOCAL_DRIVER.name,
    doc: 'The driver of new volumes: `local`, or a plugin of the engine (docs/volumes.md).',
  }),
  volumeDriverOptions: env.checked('SANDYARD_VOLUME_DRIVER_OPTIONS', readOptions, {
    kind: 'secret',
    default: {},
    written: '',
    doc: 'Options of that driver: key=value, separated by semicolons; {volume} is the name of the volume. Everyone with access to the engine can read them.',
  }),
  ...OUTBOUND_SETTINGS,
  allowUnenforcedEgress: env.boolean('SANDYARD_ALLOW_UNENFORCED_EGRESS', {
    default: false,
    doc: "Run sandboxes although the kernel of the engine's host cannot enforce the egress rules (before Linux 5.9, WSL2): they then reach what the host reaches. Without it the server does not start there.",
  }),
}

function readOptions(text: string): Readonly<Record<string, string>> {
  try {
    return readDriverOptions(text)
  } catch (err) {
    throw new SettingProblem(err instanceof Error ? err.message : 'is not valid')
  }
}

/** The options of the runtime that come from settings. */
export function optionsOf(
  config: ConfigOf<typeof dockerRuntimeSettings>,
): Omit<DockerRuntimeOptions, 'installation' | 'daemonDist' | 'wantedEgress' | 'log' | 'progress'> {
  return {
    dockerHost: config.dockerHost,
    ociRuntime: config.sandboxRuntime,
    pidsLimit: config.pidsLimit,
    resolvers: config.resolvers,
    openPrivate: config.egressAllowPrivate,
    controlNetworks: config.controlNetworks,
    ingressSources: config.ingressSources,
    networkMembers: config.networkMembers,
    egressLimits: {
      connections: config.egressConnections,
      newConnectionsPerSecond: config.egressNewConnections,
      packetsPerSecond: config.egressPackets,
      bytesPerSecond: config.egressBandwidth,
    },
    registries: config.registries,
    volumeDriver: { name: config.volumeDriver, options: config.volumeDriverOptions },
    outbound: outboundOf(config),
    allowUnenforcedEgress: config.allowUnenforcedEgress,
  }
}
