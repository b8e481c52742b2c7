import { Semaphore } from '@sandyard/kit/async/semaphore'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type Docker from 'dockerode'
import type { EgressControl } from './egress/egress-control.ts'
import { unlessStatus } from './engine/docker-errors.ts'
import { LABEL } from './labels.ts'
import type { DockerImageStore } from './images/docker-image-store.ts'
import type { SandboxNetwork } from './network/sandbox-network.ts'

export interface UpkeepParts {
  readonly docker: Docker
  readonly installation: string
  readonly network: SandboxNetwork
  readonly egress: EgressControl | undefined
  readonly images: DockerImageStore
  readonly log: Logger
}

/** So many rulesets are compiled and applied at once: each is a short burst of processor time. */
const AT_ONCE = 2

/**
 * Brings what outlived a process or a change of the host up to date: rules of running sandboxes (made by an older version, or for
 * addresses that the host does not have any more) and images that were given up. Safe in several processes at once.
 */
export async function upkeep({ docker, installation, network, egress, images, log }: UpkeepParts): Promise<void> {
  await images.sweep()
  if (egress === undefined) return
  const bridge = await network.ensure()
  const label = [`${LABEL.installation}=${installation}`, `${LABEL.role}=sandbox`]
  const sandboxes = await docker.listContainers({ filters: JSON.stringify({ label, status: ['running', 'paused'] }) })
  const limit = new Semaphore(AT_ONCE)
  const refresh = async (id: string): Promise<void> => {
    const found = await unlessStatus(404, () => docker.getContainer(id).inspect())
    if (found === undefined || !found.State.Running) return
    await egress.enforce({ pid: found.State.Pid, containerId: id, resolvers: found.HostConfig.Dns ?? [] }, bridge)
  }
  await Promise.all(
    sandboxes.map(({ Id }) =>
      limit.run(() => refresh(Id).catch((err: unknown) => log.warn({ err, container: Id }, 'egress rules could not be refreshed'))),
    ),
  )
}
