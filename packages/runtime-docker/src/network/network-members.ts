import type Docker from 'dockerode'
import ipaddr from 'ipaddr.js'
import { listContainers } from '../containers/list-containers.ts'
import { stationOn } from '../containers/container-state.ts'
import type { Member } from '../egress/member-keeper.ts'
import { statusOf } from '../engine/docker-errors.ts'
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

/**
 * Connects the running containers with the label `sandyard.member=<value>` to the sandbox network, and returns all that are on it. The engine
 * publishes ports of a container on the first of its networks in the order of names, so their other network should come before `sandyard-`.
 */
export async function joinMembers(docker: Docker, network: SandboxNetwork, value: string): Promise<Member[]> {
  const { id } = await network.ensure()
  const read = async () =>
    (await listContainers(docker, { label: [`${LABEL.member}=${value}`], status: ['running'] })).map((container) => ({
      containerId: container.Id,
      networks: container.NetworkSettings.Networks as Networks,
    }))
  const before = await read()
  const absent = before.filter(({ networks }) => stationOn(id, { NetworkSettings: { Networks: networks } }) === undefined)
  for (const { containerId } of absent) {
    try {
      await docker.getNetwork(id).connect({ Container: containerId })
    } catch (err) {
      // Another server was faster, or the container has ended.
      if (![403, 404, 409].includes(statusOf(err) ?? 0)) throw err
    }
  }
  const found = absent.length === 0 ? before : await read()
  return found.flatMap(({ networks }) => {
    const station = stationOn(id, { NetworkSettings: { Networks: networks } })
    const own = Object.values(networks).find(({ NetworkID }) => NetworkID === id)
    if (station === undefined || own === undefined) return []
    const others = Object.values(networks).filter(({ NetworkID, IPAddress }) => NetworkID !== id && IPAddress !== '')
    return [
      { endpointId: own.EndpointID, station, networks: others.map(({ IPAddress, IPPrefixLen }) => networkOf(IPAddress, IPPrefixLen)) },
    ]
  })
}

function networkOf(address: string, bits: number): string {
  const cidr = `${address}/${bits}`
  return `${ipaddr.IPv4.networkAddressFromCIDR(cidr).toString()}/${bits}`
}
