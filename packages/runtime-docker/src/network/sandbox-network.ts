import { AppError } from '@sandyard/kit/errors/app-error'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { bridgeName, LABEL, networkName, roleFilter } from '../labels.ts'

/** The bridge network of an installation, as the engine has made it. */
export interface Bridge {
  readonly id: string
  readonly subnet: string
  /** The host's address on it: where connections of the proxy and the api come from when they run on the host. */
  readonly gateway: string
}

/**
 * The one bridge network of an installation. Two processes that make it at once end up with the same one: both ask for the same
 * name of the Linux bridge, which exists once, so the engine refuses the second.
 */
export class SandboxNetwork {
  readonly #docker: Docker
  readonly #installation: string
  readonly #flight = new SingleFlight<'ensure', Bridge>()
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
    const bridge = await this.find()
    if (bridge !== undefined) return bridge
    throw new AppError('unavailable', 'The sandbox network could not be made.', { cause: refused })
  }
}
