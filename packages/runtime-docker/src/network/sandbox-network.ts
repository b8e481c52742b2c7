import { AppError } from '@sandyard/kit/errors/app-error'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import type { Container, ContainerInspectInfo } from 'dockerode'
import { addressOn } from '../containers/container-state.ts'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { bridgeName, LABEL, networkName, roleFilter } from '../labels.ts'

/** The bridge network of an installation, as the engine has made it. */
export interface Bridge {
  readonly id: string
  readonly subnet: string
  /** The host's address on it: where connections of the proxy and the api come from when they run on the host. */
  readonly gateway: string
}

/** How long another process may take to make the same network. */
const OTHERS_CREATE_MS = 10_000

/**
 * The one bridge network of an installation. Two processes that make it at once end up with the same one: both ask for the same
 * name of the Linux bridge, which exists once, so the engine refuses the second.
 */
export class SandboxNetwork {
  readonly #docker: Docker
  readonly #installation: string
  readonly #flight = new SingleFlight<'ensure', Bridge>()
  readonly #leave = new Semaphore(1)
  readonly #leaveNone = new Semaphore(1)
  #bridge: Bridge | undefined

  constructor(docker: Docker, installation: string) {
    this.#docker = docker
    this.#installation = installation
  }

  /** The network, made when it is not there. */
  async ensure(): Promise<Bridge> {
    this.#bridge ??= await this.#flight.run('ensure', async () => (await this.find()) ?? (await this.#create()))
    return this.#bridge
  }

  /** To be called when the engine does not know the network any more (`docker network prune`). */
  forget(): void {
    this.#bridge = undefined
  }

  async find(): Promise<Bridge | undefined> {
    const filters = roleFilter(this.#installation, 'network')
    const networks = await engineCall('The sandbox network could not be looked up.', () => this.#docker.listNetworks({ filters }))
    const network = networks.find(({ Name }) => Name === networkName(this.#installation))
    const [config] = network?.IPAM?.Config ?? []
    if (network === undefined || config?.['Subnet'] === undefined || config['Gateway'] === undefined) return undefined
    return { id: network.Id, subnet: config['Subnet'], gateway: config['Gateway'] }
  }

  /** Takes a running container off the network of no connections, with which it can be on no other. */
  async leaveNone({ Id, NetworkSettings }: ContainerInspectInfo): Promise<void> {
    const none = NetworkSettings.Networks['none']
    if (none !== undefined) await this.#leaveNone.run(() => this.#docker.getNetwork(none.NetworkID).disconnect({ Container: Id }))
  }

  async connect(container: Container, { id }: Bridge): Promise<void> {
    try {
      await this.#docker.getNetwork(id).connect({ Container: container.id })
    } catch (err) {
      // Another process that finishes the same sandbox was faster.
      if (addressOn(id, await container.inspect()) === undefined) throw err
    }
  }

  /**
   * To be called before a container is removed. The removal would do it as well, but beside others: two containers that leave the
   * same network at the same moment can lock up an engine before 20.10.27 for good (moby/moby#46661).
   */
  async disconnect(containerName: string): Promise<void> {
    const bridge = this.#bridge
    if (bridge === undefined) return
    // Whatever is wrong (absent, ended, never connected) is the removal's to judge.
    await this.#leave.run(() =>
      this.#docker
        .getNetwork(bridge.id)
        .disconnect({ Container: containerName, Force: true })
        .catch(() => undefined),
    )
  }

  /** Absent is success; in use is a `conflict`. */
  async remove(): Promise<void> {
    const bridge = await this.find()
    this.forget()
    if (bridge === undefined) return
    await engineCall('The sandbox network is in use.', () => unlessStatus(404, () => this.#docker.getNetwork(bridge.id).remove()))
  }

  async #create(): Promise<Bridge> {
    let refused: unknown
    try {
      await this.#docker.createNetwork({
        Name: networkName(this.#installation),
        CheckDuplicate: true,
        Driver: 'bridge',
        EnableIPv6: false,
        Labels: { [LABEL.installation]: this.#installation, [LABEL.role]: 'network' },
        Options: { 'com.docker.network.bridge.name': bridgeName(this.#installation) },
      })
    } catch (err) {
      refused = err
    }
    // The network of another process that is faster is not listed before it is whole.
    const options = { what: 'the sandbox network', timeoutMs: refused === undefined ? 0 : OTHERS_CREATE_MS, everyMs: 50 }
    return pollUntil(options, () => this.find()).catch(() => {
      throw new AppError('unavailable', 'The sandbox network could not be made.', { cause: refused })
    })
  }
}
