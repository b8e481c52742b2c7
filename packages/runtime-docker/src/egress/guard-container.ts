import type { Duplex } from 'node:stream'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import { LABEL } from '../labels.ts'
import { logGroup, tableName } from './base-rules.ts'

const MIB = 1024 ** 2

/**
 * The container of a guard. It has the host's network and the right to change it (NET_ADMIN), and nothing else: no processes and no files of the
 * host; it accepts no connections. When the control-plane process that holds its standard input ends, the engine closes that input; the guard
 * ends and removes itself.
 */
export function guardContainer(installation: string, image: string): ContainerCreateOptions {
  const hostConfig: HostConfig & { CgroupnsMode: string } = {
    AutoRemove: true,
    NetworkMode: 'host',
    UsernsMode: 'host',
    CgroupnsMode: 'private',
    CapDrop: ['ALL'],
    CapAdd: ['NET_ADMIN'],
    SecurityOpt: ['no-new-privileges'],
    ReadonlyRootfs: true,
    PidsLimit: 64,
    Memory: 256 * MIB,
    LogConfig: { Type: 'none', Config: {} },
  }
  return {
    name: `sandyard-guard-${randomId(16)}`,
    Image: image,
    Cmd: [String(logGroup(tableName(installation)))],
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
