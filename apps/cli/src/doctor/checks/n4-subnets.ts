import { bridgeName, LABEL } from '@sandyard/runtime-docker/labels'
import { fail, skipped, warn, worstOf, type Check, type Finding } from '../check.ts'
import { overlaps, parseNetwork } from '../facts/addresses.ts'
import { requireEngineNetwork } from '../facts/facts.ts'
import { toDotted, type Route } from '../facts/host-reader.ts'
import { requireInstallation } from '../facts/own-images.ts'

/** The address of the network, that of the host and the broadcast address. */
const TAKEN = 3
/** A bridge of Linux has as many ports. */
const BRIDGE_PORTS = 1024

export const subnets: Check = {
  id: 'N4',
  title: 'Subnets',
  checks:
    'the sandbox network against `/proc/net/route`: a route that overlaps fails; fewer addresses or bridge ports (1,024) than possible sandboxes warn',
  why: 'With an overlap packets of sandboxes go to another network, or the host cannot reach them; without an address no further sandbox starts.',
  todo: 'Give the engine other address pools ("default-address-pools" in /etc/docker/daemon.json), stop the server, remove the network sandyard-<id> and start again.',
  async run(facts): Promise<Finding> {
    const installation = await requireInstallation(facts)
    const network = (await facts.engine.networks()).find(
      ({ Labels }) => Labels?.[LABEL.installation] === installation && Labels[LABEL.role] === 'network',
    )
    const subnet = parseNetwork(network?.IPAM?.Config?.[0]?.['Subnet'] ?? '')
    if (network === undefined || subnet === undefined) return skipped('there is no sandbox network: no server runs')
    await requireEngineNetwork(facts)
    const others = facts.host.routes().filter((route) => route.interface !== bridgeName(installation) && route.mask !== 0)
    const overlapping = others.filter((route) => overlaps(subnet, { base: route.destination, prefix: prefixOf(route) }))
    const text = `${toDotted(subnet.base)}/${subnet.prefix}`
    const room = Math.min(2 ** (32 - subnet.prefix) - TAKEN, BRIDGE_PORTS)
    const { maxSandboxes } = facts.settings
    return worstOf(
      [
        overlapping.length > 0 ? fail(`${text} overlaps ${overlapping.map(show).join(', ')}`) : undefined,
        room < maxSandboxes ? warn(`${text} has room for ${room} of ${maxSandboxes} possible sandboxes`) : undefined,
      ],
      `${text} overlaps no route, and has room for ${room} sandboxes`,
    )
  },
}

function prefixOf({ mask }: Route): number {
  return mask.toString(2).replaceAll('0', '').length
}

function show(route: Route): string {
  return `${toDotted(route.destination)}/${prefixOf(route)} (${route.interface})`
}
