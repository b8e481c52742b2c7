import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import { listContainers } from '../containers/list-containers.ts'
import type { EgressControl } from '../egress/egress-control.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import { sandboxFilter } from '../labels.ts'
import type { SandboxNetwork } from '../network/sandbox-network.ts'
import { repairEach } from '../engine/repair-each.ts'

export interface RefreshRulesParts {
  readonly docker: Docker
  readonly installation: string
  readonly network: SandboxNetwork
  readonly egress: EgressControl
}

/**
 * Puts the egress rules of all running sandboxes in force again: an older version may have written them, or the addresses of the host
 * have changed. Several processes may do this at the same time.
 *
 * @throws AggregateError with the failures of single sandboxes
 */
export async function refreshRules({ docker, installation, network, egress }: RefreshRulesParts, signal?: AbortSignal): Promise<void> {
  const bridge = await network.ensure()
  const sandboxes = await listContainers(docker, { ...sandboxFilter(installation), status: ['running', 'paused'] })
  const refresh = async ({ Id }: ContainerInfo): Promise<void> => {
    const found = await unlessStatus(404, () => docker.getContainer(Id).inspect())
    if (found === undefined || !found.State.Running) return
    await egress.enforce({ pid: found.State.Pid, containerId: Id, resolvers: found.HostConfig.Dns ?? [] }, bridge)
  }
  await repairEach(sandboxes, refresh, signal)
}
