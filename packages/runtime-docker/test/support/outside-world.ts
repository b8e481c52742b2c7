import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { Container } from 'dockerode'
import { removeContainer } from '../../src/containers/remove-container.ts'
import { Inside } from './inside.ts'
import { onHost } from './host-shell.ts'
import { DAEMON_PORT, STAND_IN_COMMAND } from './stand-in-dist.ts'

/** The host's own address on the external network, where the engine has no bridge. */
export const HOST_ADDRESS = '198.51.100.1'

/** Addresses of a machine outside of the host. The stand-in daemon serves each on its port. */
export const OUTSIDE = {
  public: '198.51.100.10',
  metadata: '169.254.169.254',
  sharedSpace: '100.100.100.200',
  private: '10.77.0.10',
  resolver: '10.77.0.53',
  port: DAEMON_PORT,
} as const

/** Not one of the free ports that tests find. */
const TURN_PORT = 19_999
const ADDRESSES = [OUTSIDE.public, OUTSIDE.metadata, OUTSIDE.sharedSpace, OUTSIDE.private, OUTSIDE.resolver]

/** A container with the stand-in daemon and without rules. */
export interface Bystander {
  readonly container: Container
  readonly address: string
  readonly inside: Inside
}

export interface WorldOptions {
  readonly docker: Docker
  /** Contains iproute2 and util-linux. */
  readonly toolImage: string
  readonly volume: string
}

/**
 * Real addresses that sandboxes must and must not reach: a separate machine behind the host (a network namespace joined by a veth
 * pair, with routes on the host), and a server on every address of the host itself.
 */
export class OutsideWorld implements AsyncDisposable {
  readonly #docker: Docker
  readonly #options: WorldOptions
  readonly #host: Server
  readonly #turn: AsyncDisposable
  readonly #containers: Container[] = []

  private constructor(options: WorldOptions, host: Server, turn: AsyncDisposable) {
    this.#turn = turn
    this.#docker = options.docker
    this.#options = options
    this.#host = host
  }

  /** Waits until the world of another test file is closed: its addresses are the same. */
  static async open(options: WorldOptions): Promise<OutsideWorld> {
    const turn = await takeTurn()
    const host = createServer((_, response) => response.end('host')).listen(0, '0.0.0.0')
    const world = new OutsideWorld(options, host, turn)
    try {
      await world.#attach()
      return world
    } catch (err) {
      await world[Symbol.asyncDispose]()
      throw err
    }
  }

  /** The port of the server that listens on every address of the host, as a database or an api would. */
  get hostPort(): number {
    return (this.#host.address() as AddressInfo).port
  }

  async bystander(network: string, labels: Readonly<Record<string, string>> = {}): Promise<Bystander> {
    const container = await this.#start(network, [], labels)
    const { NetworkSettings } = await container.inspect()
    const address = Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? ''
    return { container, address, inside: new Inside({ host: address, daemonPort: DAEMON_PORT }) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { id } of this.#containers) await removeContainer(this.#docker, id)
    this.#host.closeAllConnections()
    await new Promise((resolve) => this.#host.close(resolve))
    await this.#turn[Symbol.asyncDispose]()
  }

  /** Joins the machine to the host. */
  async #attach(): Promise<void> {
    const machine = await this.#start('none', [`STAND_IN_DNS=${OUTSIDE.public}`, `STAND_IN_DNS_ADDRESS=${OUTSIDE.resolver}`])
    const { State } = await machine.inspect()
    const [near, far] = [`syt${randomId(8)}`, `syt${randomId(8)}`]
    const inside = `nsenter -t ${State.Pid} -n`
    await onHost(
      this.#options.docker,
      this.#options.toolImage,
      [
        // The engine takes the interfaces of an ended world down some time after its container.
        'for link in $(ls /sys/class/net | grep ^syt); do ip link delete $link 2> /dev/null || true; done',
        `ip link add ${near} type veth peer name ${far} netns ${State.Pid}`,
        `ip address add ${HOST_ADDRESS}/32 dev ${near}`,
        `ip link set ${near} up`,
        ...ADDRESSES.map((address) => `${inside} ip address add ${address}/32 dev ${far}`),
        `${inside} ip link set ${far} up`,
        `${inside} ip route add default dev ${far}`,
        ...ADDRESSES.map((address) => `ip route add ${address}/32 dev ${near}`),
      ].join('\n'),
    )
  }

  async #start(network: string, env: readonly string[] = [], labels: Readonly<Record<string, string>> = {}): Promise<Container> {
    const container = await this.#docker.createContainer({
      name: `sandyard-test-${randomId(8)}`,
      Image: this.#options.toolImage,
      Entrypoint: STAND_IN_COMMAND,
      Cmd: [],
      Env: [...env],
      Labels: labels,
      HostConfig: {
        NetworkMode: network,
        // The control of raw sockets: the default profile of the engine may deny them.
        SecurityOpt: ['seccomp=unconfined'],
        Mounts: [{ Type: 'volume', Source: this.#options.volume, Target: '/opt/sandyard', ReadOnly: true }],
      },
    })
    this.#containers.push(container)
    await container.start()
    return container
  }
}

/** A listener on one port is the lock: the kernel frees it when its process ends. */
async function takeTurn(): Promise<AsyncDisposable> {
  const lock = await pollUntil({ what: 'the end of another outside world', timeoutMs: 560_000, everyMs: 100 }, async () => {
    const server = createServer().listen(TURN_PORT, '127.0.0.1')
    return once(server, 'listening').then(
      () => server,
      () => undefined,
    )
  })
  return { [Symbol.asyncDispose]: () => new Promise((resolve) => void lock.close(() => resolve())) }
}
