import { randomId } from '@sandyard/kit/ids/ids'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { ENGINE, type EngineBench } from '../../../packages/runtime-docker/test/support/engine-bench.ts'
import { Inside } from '../../../packages/runtime-docker/test/support/inside.ts'
import { HOST_ADDRESS, OUTSIDE, OutsideWorld } from '../../../packages/runtime-docker/test/support/outside-world.ts'
import { DAEMON_PORT } from '../../../packages/runtime-docker/test/support/stand-in-dist.ts'
import { allRights } from './all-rights.ts'
import { Containers, outputOf } from './containers.ts'
import { hasIpv6 } from './has-ipv6.ts'
import { ENGINE_PORT, ENGINE_TLS_PORT, HostDoors } from './host-doors.ts'

export type Variables = Readonly<Record<string, string>>

/** A neighbour on a network, for which a probe looks. */
export interface Sibling {
  readonly address: string
  readonly mac: string
}

/** The port of the servers in siblings and behind the published port. */
export const SERVICE_PORT = 8099
const READY_MS = 60_000
const OUTSIDE_DOORS = [
  'tcp:0.0.0.0:80',
  'tcp:0.0.0.0:53',
  `udp:${OUTSIDE.public}:53`,
  `udp:${OUTSIDE.public}:443`,
  `udp:${OUTSIDE.private}:53`,
  `udp:${OUTSIDE.metadata}:53`,
  `udp:${OUTSIDE.metadata}:123`,
]

interface Parts {
  readonly stack: AsyncDisposableStack
  readonly docker: EngineBench['docker']
  readonly image: string
  readonly world: OutsideWorld
  readonly host: HostDoors
  readonly containers: Containers
  readonly network: string
  readonly witness: Sibling & { readonly inside: Inside }
  readonly common: Variables
}

/**
 * Everything that probes try to reach: the addresses behind the host (`outside-world.ts`), servers on the host, a container with a published
 * port, and a witness network with a neighbour on it, where the same probes succeed.
 */
export class Targets implements AsyncDisposable {
  readonly #parts: Parts
  readonly #watchers: (() => Promise<string>)[] = []

  private constructor(parts: Parts) {
    this.#parts = parts
  }

  static async open({ docker, volume }: EngineBench, image: string): Promise<Targets> {
    await using undo = new AsyncDisposableStack()
    const network = `sandyard-test-${randomId(8)}`
    await makeNetwork(docker, network)
    undo.defer(async () => void (await docker.getNetwork(network).remove()))
    const containers = undo.use(new Containers(docker))
    const world = undo.use(await OutsideWorld.open({ docker, toolImage: image, volume }))
    const host = undo.use(await HostDoors.open())
    const neighbour = await world.bystander(network)
    const witness = { ...neighbour, mac: (await neighbour.inside.sh('cat /sys/class/net/eth0/address')).stdout.trim() }
    const published = await containers.start({
      Image: image,
      Cmd: ['/escape/serve', `tcp:0.0.0.0:${SERVICE_PORT}`],
      ExposedPorts: { [`${SERVICE_PORT}/tcp`]: {} },
      HostConfig: { PortBindings: { [`${SERVICE_PORT}/tcp`]: [{ HostPort: '' }] } },
    })
    const { NetworkSettings } = await published.inspect()
    const common = {
      METADATA: OUTSIDE.metadata,
      SHARED: OUTSIDE.sharedSpace,
      PRIVATE: OUTSIDE.private,
      PUBLIC: OUTSIDE.public,
      RESOLVER: OUTSIDE.resolver,
      HOST_ADDRESS,
      HOST_PORT: String(world.hostPort),
      HOST_UDP_PORT: String(host.udpPort),
      ENGINE_PORT: String(ENGINE_PORT),
      ENGINE_TLS_PORT: String(ENGINE_TLS_PORT),
      DAEMON_PORT: String(DAEMON_PORT),
      BRIDGE_ADDRESS: NetworkSettings.Networks['bridge']?.Gateway ?? '',
      PUBLISHED_PORT: NetworkSettings.Ports[`${SERVICE_PORT}/tcp`]?.[0]?.HostPort ?? '',
      OTHER_CONTAINER: witness.address,
      SERVICE_PORT: String(SERVICE_PORT),
    }
    const machine = new Inside({ host: OUTSIDE.public, daemonPort: OUTSIDE.port })
    const targets = new Targets({ stack: undo.move(), docker, image, world, host, containers, network, witness, common })
    await targets.#begin(machine, `/escape/serve ${OUTSIDE_DOORS.join(' ')}`)
    await targets.#begin(witness.inside, `/escape/serve tcp:${hasIpv6() ? '[::]' : '0.0.0.0'}:${SERVICE_PORT} udp:0.0.0.0:${SERVICE_PORT}`)
    targets.#watchers.push(await targets.#begin(machine, '/escape/watch'), await targets.#begin(witness.inside, '/escape/watch'))
    return targets
  }

  /** The variables of probes whose neighbour is this one. */
  variables(sibling: Sibling): Variables {
    return { ...this.#parts.common, SIBLING: sibling.address, SIBLING_MAC: sibling.mac }
  }

  /** Watches what arrives in the network namespace of a container. */
  async watch(containerId: string): Promise<void> {
    const { containers, image } = this.#parts
    const watcher = await containers.start({
      Image: image,
      Cmd: ['/escape/watch'],
      HostConfig: { NetworkMode: `container:${containerId}`, SecurityOpt: ['seccomp=unconfined'] },
    })
    this.#watchers.push(await whenReady(() => outputOf(watcher)))
  }

  /** `<probe> <place>` for every packet with a marker that arrived at a place where it must not. */
  async arrived(): Promise<ReadonlySet<string>> {
    const seen = await Promise.all(this.#watchers.map((read) => read()))
    return new Set([...this.#parts.host.seen, ...seen.flatMap((text) => text.split('\n'))])
  }

  /**
   * Runs a script as root where everything is allowed: a container with all rights on the witness network, with the engine's socket, a program in
   * the place of the daemon, and a secret in its variables, its memory and a file.
   */
  async allowed(scriptFor: (variables: Variables) => string, secret: string): Promise<string> {
    const { containers, image, network, witness } = this.#parts
    const script = [
      'mkdir -p /opt/sandyard && echo > /opt/sandyard/daemon.mjs',
      'printf %s "$SECRET" > /run/escape-secret',
      `perl -e 'my $kept = join q(), $ENV{SECRET}; sleep 600' /opt/sandyard/daemon.mjs &`,
      scriptFor(this.variables(witness)),
    ]
    const rights = allRights()
    const socket = (ENGINE ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')
    return containers.run({
      Image: image,
      Cmd: ['/bin/sh', '-c', script.join('\n')],
      Env: [`SECRET=${secret}`],
      HostConfig: {
        ...rights,
        NetworkMode: network,
        Dns: [OUTSIDE.resolver],
        Binds: [...rights.Binds, ...(socket.startsWith('/') ? [`${socket}:/run/docker.sock`] : [])],
      },
    })
  }

  get containers(): Containers {
    return this.#parts.containers
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.stack.disposeAsync()
  }

  /** Starts a program that goes on, and returns what reads its output. */
  async #begin(inside: Inside, command: string): Promise<() => Promise<string>> {
    const file = `/tmp/${randomId(12)}`
    await inside.sh(`nohup ${command} > ${file} 2>&1 < /dev/null &`)
    return whenReady(async () => (await inside.readFile(file)) ?? '')
  }
}

async function whenReady(read: () => Promise<string>): Promise<() => Promise<string>> {
  let last = ''
  await pollUntil({ what: 'a server of the probes', timeoutMs: READY_MS, everyMs: 50 }, async () => {
    last = await read()
    return last.startsWith('ready') ? true : undefined
  }).catch((cause: unknown) => {
    throw new Error(`a server of the probes did not start: ${last}`, { cause })
  })
  return read
}

/**
 * With IPv6, so that the probes of it have a control. The addresses are not from the engine's pools, which contain those of installations
 * that are gone and whose egress rules may still be on the host.
 */
async function makeNetwork(docker: EngineBench['docker'], name: string): Promise<void> {
  const upTo = (limit: number): number => Math.floor(Math.random() * limit)
  const part = (): string => upTo(0xffff).toString(16)
  const subnets = [`10.${200 + upTo(50)}.${upTo(256)}.0/24`, ...(hasIpv6() ? [`fd5a:${part()}:${part()}::/64`] : [])]
  const Config = subnets.map((Subnet) => ({ Subnet }))
  await docker.createNetwork({ Name: name, EnableIPv6: hasIpv6(), IPAM: { Driver: 'default', Config } })
}
