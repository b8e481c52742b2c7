import type { Duplex } from 'node:stream'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import { LABEL } from '../labels.ts'

const MIB = 1024 ** 2

/**
 * The container of a guard. It sees the host's processes and network, and enters the network namespaces of sandboxes: it needs SYS_ADMIN
 * to enter them, SYS_PTRACE to open them by process, NET_ADMIN for the rules. It has no files of the host and accepts no connections.
 * When the control-plane process that holds its standard input ends, the engine closes that input; the guard ends and removes itself.
 */
export function guardContainer(installation: string, image: string): ContainerCreateOptions {
  const hostConfig: HostConfig & { CgroupnsMode: string } = {
    AutoRemove: true,
    PidMode: 'host',
    NetworkMode: 'host',
    UsernsMode: 'host',
    CgroupnsMode: 'host',
    CapDrop: ['ALL'],
    CapAdd: ['NET_ADMIN', 'SYS_ADMIN', 'SYS_PTRACE'],
    // The default AppArmor profile does not allow it to inspect processes of other profiles.
    SecurityOpt: ['no-new-privileges', 'apparmor=unconfined'],
    ReadonlyRootfs: true,
    PidsLimit: 512,
    Memory: 256 * MIB,
    LogConfig: { Type: 'none', Config: {} },
  }
  return {
    name: `sandyard-guard-${randomId(16)}`,
    Image: image,
    Labels: { [LABEL.installation]: installation, [LABEL.role]: 'guard' },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: hostConfig,
  }
}

/** Starts a guard. The stream is its standard input and, in the engine's framing, its outputs. */
export async function startGuardContainer(
  docker: Docker,
  options: ContainerCreateOptions,
): Promise<{ readonly id: string; readonly stream: Duplex }> {
  const container = await docker.createContainer(options)
  try {
    const attach = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true }
    const stream = (await container.attach(attach)) as Duplex
    await container.start()
    return { id: container.id, stream }
  } catch (err) {
    await container.remove({ force: true }).catch(() => undefined)
    throw err
  }
}
