import { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { roleFilter } from '@sandyard/runtime-docker/labels'
import { SandboxNetwork } from '@sandyard/runtime-docker/network/sandbox-network'

/**
 * Removes the sandbox network when the installation has no sandbox, running or stopped: an engine has room for about thirty networks. The
 * next start creates it again. While an unfinished sandbox exists, the network stays until the next start removes it.
 */
export async function tidyEngine(dockerHost: string | undefined, installation: string): Promise<void> {
  const docker = await connectEngine(dockerHost)
  const sandboxes = await docker.listContainers({ all: true, filters: roleFilter(installation, 'sandbox') })
  if (sandboxes.length === 0) await new SandboxNetwork(docker, installation).remove()
}
