import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { roleFilter } from '@sandyard/runtime-docker/labels'
import { SandboxNetwork } from '@sandyard/runtime-docker/network/sandbox-network'

/**
 * Takes the sandbox network away when no sandbox, running or stopped, is on it any more: an engine has room for some thirty networks only. The
 * next start makes it again. What a create left half made keeps the network, and the next start's repair ends that.
 */
export async function tidyEngine(dockerHost: string | undefined, installation: string): Promise<void> {
  const docker = await connectEngine(dockerHost)
  const sandboxes = await docker.listContainers({ all: true, filters: roleFilter(installation, 'sandbox') })
  if (sandboxes.length === 0) await new SandboxNetwork(docker, installation).remove()
}
