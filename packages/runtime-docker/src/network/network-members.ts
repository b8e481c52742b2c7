import type { Logger } from '@sandyard/kit/logging/create-logger'
import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import ipaddr from 'ipaddr.js'
import { listContainers } from '../containers/list-containers.ts'
import { stationOn } from '../containers/container-state.ts'
import type { Member } from '../egress/member-keeper.ts'
import { LABEL } from '../labels.ts'
import type { SandboxNetwork } from './sandbox-network.ts'

type Networks = Readonly<
  Record<
    string,
    {
      readonly NetworkID: string
      readonly EndpointID: string
      readonly IPAddress: string
      readonly IPPrefixLen: number
      readonly MacAddress: string
    }
  >
>

export interface NetworkMembersOptions {
  readonly docker: Docker
  readonly network: SandboxNetwork
  /** The value of the label `sandyard.member`. */
  readonly value: string
  readonly log: Logger
}

/**
 * The containers of the proxy and the api on the sandbox network: those to which their operator gave the label `sandyard.member=<value>`. A label that
 * comes from an image counts for nothing, because users of the server write images. The engine publishes ports of a container on the first of its
 * networks in the order of names, so their other network should come before `sandyard-`.
 */
export class NetworkMembers {
  readonly #options: NetworkMembersOptions
  /** Whether the operator gave the label, by container. */
  readonly #isMember = new Map<string, boolean>()

  constructor(options: NetworkMembersOptions) {
    this.#options = options
  }

  /** Connects those that are absent, and returns all that are on the network. One that cannot be connected is left out. */
  async join(): Promise<Member[]> {
    const { docker, network, log } = this.#options
    const { id } = await network.ensure()
    const before = await this.#list()
    const absent = before.filter((container) => stationOn(id, container) === undefined)
    for (const { Id } of absent) {
      try {
        await docker.getNetwork(id).connect({ Container: Id })
      } catch (err) {
        // Another server was faster, or the container has ended; anything else must not keep the others from their sandboxes.
        log.debug({ err, containerId: Id }, 'a container of the control plane could not be connected to the sandbox network')
      }
    }
    const found = absent.length === 0 ? before : await this.#list()
    return found.flatMap((container) => {
      const station = stationOn(id, container)
      const networks = Object.values(container.NetworkSettings.Networks as Networks)
      const own = networks.find(({ NetworkID }) => NetworkID === id)
      if (station === undefined || own === undefined) return []
      const others = networks.filter(({ NetworkID, IPAddress }) => NetworkID !== id && IPAddress !== '')
      return [
        { endpointId: own.EndpointID, station, networks: others.map(({ IPAddress, IPPrefixLen }) => networkOf(IPAddress, IPPrefixLen)) },
      ]
    })
  }

  async #list(): Promise<ContainerInfo[]> {
    const { docker, value } = this.#options
    const labelled = await listContainers(docker, { label: [`${LABEL.member}=${value}`], status: ['running'] })
    const ids = new Set(labelled.map(({ Id }) => Id))
    for (const id of this.#isMember.keys()) if (!ids.has(id)) this.#isMember.delete(id)
    for (const container of labelled) {
      if (!this.#isMember.has(container.Id)) this.#isMember.set(container.Id, await this.#hasOwnLabel(container))
    }
    return labelled.filter(({ Id }) => this.#isMember.get(Id) === true)
  }

  /** The engine copies the labels of an image to its containers. Sandboxes and helpers of ours have a role. */
  async #hasOwnLabel({ Labels, ImageID }: ContainerInfo): Promise<boolean> {
    if (Labels[LABEL.role] !== undefined) return false
    try {
      const { Config } = await this.#options.docker.getImage(ImageID).inspect()
      return !Object.hasOwn(Config.Labels ?? {}, LABEL.member)
    } catch {
      // The image was removed meanwhile, so nothing is known of it.
      return false
    }
  }
}

function networkOf(address: string, bits: number): string {
  const cidr = `${address}/${bits}`
  return `${ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()}/${bits}`
}
