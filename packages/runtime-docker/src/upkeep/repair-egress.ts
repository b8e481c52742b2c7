import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import { DEFAULT_EGRESS, type EgressPolicy, type SandboxRef } from '@sandyard/runtime/types'
import { listContainers } from '../containers/list-containers.ts'
import { stationOn } from '../containers/container-state.ts'
import type { EgressControl } from '../egress/egress-control.ts'
import { compilePolicy, type Registration, type Station } from '../egress/sandbox-rules.ts'
import { refOf, sandboxFilter } from '../labels.ts'
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

/** A sandbox whose owner does not know it. */
const CLOSED: EgressPolicy = { ...DEFAULT_EGRESS, allowInternet: false }
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
  const wanted = await wantedEgress(sandboxes.map(({ ref }) => ref.sandboxId))
  const wrong = sandboxes.filter(({ ref, station }) => {
    const policy = wanted.get(ref.sandboxId) ?? CLOSED
    return !isInForce(parts.installation, station, { registered, policy })
  })
  const stations = new Set(sandboxes.map(({ station }) => station.address))
  const stale = [...addressesOf(registered)].filter((address) => !stations.has(address))
  if (wrong.length === 0 && stale.length === 0) return true
  const repair = async ({ ref, station }: Sandbox): Promise<void> => {
    // An entry of an earlier run of the sandbox does not go by a registration beside it.
    if (registered.bound.filter(({ address }) => address === station.address).length > 1) await egress.unregister(station.address)
    await parts.apply(ref, async () => (await wantedEgress([ref.sandboxId])).get(ref.sandboxId) ?? CLOSED)
  }
  await repairEach(
    [...wrong.map((sandbox) => () => repair(sandbox)), ...stale.map((address) => () => egress.unregister(address))],
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

function addressesOf({ bound, chains }: Registration): Set<string> {
  return new Set([...bound.map(({ address }) => address), ...chains.keys()])
}
