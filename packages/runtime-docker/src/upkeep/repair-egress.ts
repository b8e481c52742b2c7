import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import type { EgressPolicy, SandboxRef } from '@sandyard/runtime/types'
import { listContainers } from '../containers/list-containers.ts'
import { stationOn } from '../containers/container-state.ts'
import { CLOSED_EGRESS } from '../egress/closed-egress.ts'
import type { EgressControl } from '../egress/egress-control.ts'
import type { Registration, Station } from '../egress/registration.ts'
import { addressesOf, compilePolicy } from '../egress/sandbox-rules.ts'
import { refOf, roleFilter, sandboxFilter } from '../labels.ts'
import type { SandboxNetwork } from '../network/sandbox-network.ts'
import { repairEach } from '../engine/repair-each.ts'
import type { DockerRuntimeOptions } from '../runtime-options.ts'

export interface RepairEgressParts {
  readonly docker: Docker
  readonly installation: string
  readonly network: SandboxNetwork
  readonly egress: EgressControl
  readonly wantedEgress: DockerRuntimeOptions['wantedEgress']
  /** Registers a sandbox that runs with the policy that `read` returns, while nothing else changes the sandbox. */
  readonly apply: (ref: SandboxRef, read: () => Promise<EgressPolicy>) => Promise<void>
}

interface Sandbox {
  readonly ref: SandboxRef
  readonly station: Station
}

const MAX_PASSES = 5

/**
 * Makes the registrations equal to the sandboxes that run and to the policies that their owner wants. Several processes may do this at the same
 * time, beside starts and changes of policies: each pass looks again, and the last one finds nothing to change.
 *
 * @throws the failure of the last pass, when every pass had one
 */
export async function repairEgress(parts: RepairEgressParts, signal?: AbortSignal): Promise<void> {
  await parts.egress.sweep()
  const failures: unknown[] = []
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    if (signal?.aborted) return
    // A failure of one sandbox, as of one that has ended meanwhile, must not leave the others for the next run.
    const isDone = await repairOnce(parts, signal).catch((err: unknown) => void failures.push(err))
    if (isDone === true) return
  }
  if (failures.length === MAX_PASSES) throw failures.at(-1)
}

/** True when there was nothing to change. */
async function repairOnce(parts: RepairEgressParts, signal: AbortSignal | undefined): Promise<boolean> {
  const { egress, wantedEgress } = parts
  // In this order: what is registered now and has no sandbox afterwards is stale, because a sandbox is there before its registration.
  const registered = await egress.registered()
  const sandboxes = await runningSandboxes(parts)
  const servers = await volumeServers(parts)
  const wanted = await wantedEgress(sandboxes.map(({ ref }) => ref.sandboxId))
  const isRight = (station: Station, policy: EgressPolicy): boolean => isInForce(parts.installation, station, { registered, policy })
  // A sandbox that its owner does not know is closed.
  const wrong = sandboxes.filter(({ ref, station }) => !isRight(station, wanted.get(ref.sandboxId) ?? CLOSED_EGRESS))
  const wrongServers = servers.filter((station) => !isRight(station, CLOSED_EGRESS))
  const stations = new Set([...sandboxes.map(({ station }) => station), ...servers].map(({ address }) => address))
  const stale = [...addressesOf(registered)].filter((address) => !stations.has(address))
  if (wrong.length + wrongServers.length + stale.length === 0) return true
  // An entry of an earlier run does not go by a registration beside it.
  const dropDoubles = async ({ address }: Station): Promise<void> => {
    if (registered.bound.filter((entry) => entry.address === address).length > 1) await egress.unregisterSeen(address, registered)
  }
  const repair = async ({ ref, station }: Sandbox): Promise<void> => {
    await dropDoubles(station)
    await parts.apply(ref, async () => (await wantedEgress([ref.sandboxId])).get(ref.sandboxId) ?? CLOSED_EGRESS)
  }
  const repairServer = async (station: Station): Promise<void> => {
    await dropDoubles(station)
    await egress.register(station, CLOSED_EGRESS)
  }
  await repairEach(
    [
      ...wrong.map((sandbox) => () => repair(sandbox)),
      ...wrongServers.map((station) => () => repairServer(station)),
      ...stale.map((address) => () => egress.unregisterSeen(address, registered)),
    ],
    (work) => work(),
    signal,
  )
  return false
}

async function runningSandboxes({ docker, installation, network }: RepairEgressParts): Promise<Sandbox[]> {
  const { id } = await network.ensure()
  const found = await listContainers(docker, { ...sandboxFilter(installation), status: ['running', 'paused'] })
  return found.flatMap((container: ContainerInfo) => {
    const [ref, station] = [refOf(container.Labels), stationOn(id, container)]
    return ref === undefined || station === undefined ? [] : [{ ref, station }]
  })
}

async function volumeServers({ docker, installation, network }: RepairEgressParts): Promise<Station[]> {
  const { id } = await network.ensure()
  const filter = JSON.parse(roleFilter(installation, 'volume-server')) as Readonly<Record<string, readonly string[]>>
  const found = await listContainers(docker, { ...filter, status: ['running', 'paused'] })
  return found.flatMap((container) => stationOn(id, container) ?? [])
}

function isInForce(
  installation: string,
  { address, mac }: Station,
  { registered, policy }: { registered: Registration; policy: EgressPolicy },
): boolean {
  const chain = registered.chains.get(address)
  const bound = registered.bound.filter((entry) => entry.address === address)
  const isBound = bound.length === 1 && bound.every((entry) => entry.mac === mac && registered.ports.has(entry.port))
  if (!isBound || chain === undefined) return false
  const rules = compilePolicy(installation, address, policy)
  return chain === rules.chain && registered.marks.get(chain) === rules.mark
}
