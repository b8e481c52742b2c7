import { AppError } from '@sandyard/kit/errors/app-error'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type Docker from 'dockerode'
import type { Container } from 'dockerode'
import { stationOn } from '../containers/container-state.ts'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { Turns } from './turns.ts'
import { bridgeName, LABEL, networkName, roleFilter } from '../labels.ts'

/** The bridge network of an installation, as the engine created it. */
export interface Bridge {
  readonly id: string
  /** The Linux bridge of the host. */
  readonly interface: string
  readonly subnet: string
  /** The host's address on it. Connections of the proxy and the api come from it when they run on the host. */
  readonly gateway: string
}

/** How long another process may take to create the same network. */
const OTHERS_CREATE_MS = 10_000
/** Much longer than a container takes to leave a network on a busy host. */
const TURN_MS = 2000

/**
 * The one bridge network of an installation. Two processes that create it at the same time get the same one: both ask for the same
 * name of the Linux bridge, which must be unique, so the engine refuses the second.
 */
export class SandboxNetwork {
  readonly #docker: Docker
  readonly #installation: string
  readonly #flight = new SingleFlight<'ensure', Bridge>()
  readonly #leave = new Turns(TURN_MS)
  #bridge: Bridge | undefined
  /** Kept while the network is absent: the next one nearly always has the same. */
  #gateway: string | undefined
  #beforeLeave = (_address: string): Promise<void> => Promise.resolve()

  constructor(docker: Docker, installation: string) {
    this.#docker = docker
    this.#installation = installation
  }

  /** Returns the network, and creates it if it is absent. */
  async ensure(): Promise<Bridge> {
    this.#bridge ??= await this.#flight.run('ensure', async () => (await this.find()) ?? (await this.#create()))
    this.#gateway = this.#bridge.gateway
    return this.#bridge
  }

  /** The host's address on the network, once `ensure` has returned. */
  get gateway(): string | undefined {
    return this.#gateway
  }

  /** `work` runs before a container that runs gives up its address. The container leaves also when it fails. */
  beforeLeave(work: (address: string) => Promise<void>): void {
    this.#beforeLeave = work
  }

  /** The network that the engine has now: another process may have made another one after a prune. Undefined while it is absent. */
  async look(): Promise<Bridge | undefined> {
    const known = this.#bridge
    const found = await this.find()
    // What `ensure` has made meanwhile is newer.
    if (this.#bridge === known) this.#bridge = found
    this.#gateway = this.#bridge?.gateway ?? this.#gateway
    return this.#bridge
  }

  /** Must be called when the engine no longer has the network (`docker network prune`). */
  forget(): void {
    this.#bridge = undefined
  }

  async find(): Promise<Bridge | undefined> {
    const filters = roleFilter(this.#installation, 'network')
    const networks = await engineCall('The sandbox network could not be looked up.', () => this.#docker.listNetworks({ filters }))
    const network = networks.find(({ Name }) => Name === networkName(this.#installation))
    const [config] = network?.IPAM?.Config ?? []
    if (network === undefined || config?.['Subnet'] === undefined || config['Gateway'] === undefined) return undefined
    return { id: network.Id, interface: bridgeName(this.#installation), subnet: config['Subnet'], gateway: config['Gateway'] }
  }

  /** Lets a stopped container start on this network and on no other. A running container is not changed. */
  async joinWhileStopped(container: Container, { id }: Bridge): Promise<void> {
    const { Id, State, NetworkSettings } = await container.inspect()
    if (State.Running) return
    const networks = Object.entries(NetworkSettings.Networks)
    // By name: the engine then also forgets a network that it no longer has.
    for (const [name, { NetworkID }] of networks)
      if (NetworkID !== id) await this.#docker.getNetwork(name).disconnect({ Container: Id, Force: true })
    if (!networks.some(([, { NetworkID }]) => NetworkID === id)) await this.#docker.getNetwork(id).connect({ Container: Id })
  }

  /** Lets a new container start without a network. It is connected afterwards. */
  async leaveBeforeStart(container: Container, { id }: Bridge): Promise<void> {
    await this.#docker.getNetwork(id).disconnect({ Container: container.id })
  }

  /** A container that another process has connected meanwhile is success. */
  async connect(container: Container, { id }: Bridge): Promise<void> {
    await unlessStatus(403, () => this.#docker.getNetwork(id).connect({ Container: container.id }))
  }

  /**
   * Must be called before a container is removed. The removal would disconnect it too, but in parallel: two containers that leave
   * the same network at the same moment can lock up an engine before 20.10.27 permanently (moby/moby#46661).
   *
   * @throws the engine's error, `deadline_exceeded` for a container that hangs
   */
  async disconnect(containerName: string): Promise<void> {
    const bridge = this.#bridge
    if (bridge === undefined) return
    // The engine does not answer this request for a container that hangs. So such a container never takes a turn that others wait for.
    const found = await unlessStatus(404, () => this.#docker.getContainer(containerName).inspect())
    const station = found && stationOn(bridge.id, found)
    if (found === undefined || station === undefined) return
    // An engine that was killed goes on showing the address of a container that has ended, and gives it to another one.
    if (found.State.Running) await this.#beforeLeave(station.address).catch(() => undefined)
    const leave = () => this.#docker.getNetwork(bridge.id).disconnect({ Container: found.Id, Force: true })
    // Errors are ignored here: the removal reports them.
    await this.#leave.run(found.Id, leave).catch(() => undefined)
  }

  /** An absent network is success; a network in use is a `conflict`. */
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
    // The engine does not list the network of a faster process before it is complete.
    const options = { what: 'the sandbox network', timeoutMs: refused === undefined ? 0 : OTHERS_CREATE_MS, everyMs: 50 }
    return pollUntil(options, () => this.find()).catch(() => {
      throw new AppError('unavailable', 'The sandbox network could not be made.', { cause: refused })
    })
  }
}
