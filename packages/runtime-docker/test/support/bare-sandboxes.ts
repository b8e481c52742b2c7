import { randomId } from '@sandyard/kit/ids/ids'
import type { SandboxSpec } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import { containerSpec, type ContainerPlan } from '../../src/containers/container-spec.ts'
import { startSandbox } from '../../src/containers/start-sandbox.ts'
import type { Replacement } from '../../src/containers/stuck-container.ts'
import { readManifest } from '../../src/daemon-volume/daemon-dist.ts'
import { DaemonVolume } from '../../src/daemon-volume/daemon-volume.ts'
import { EMPTY_IMAGE, ensureEmptyImage } from '../../src/engine/empty-image.ts'
import { toAppError } from '../../src/engine/docker-errors.ts'
import { containerName, networkName } from '../../src/labels.ts'
import { SandboxNetwork } from '../../src/network/sandbox-network.ts'
import type { EngineBench } from './engine-bench.ts'

/** Starts sandboxes without egress rules and without processes of their own: on a second engine the guard's image would take a minute. */
export interface BareSandboxes {
  readonly installation: string
  readonly parts: Parameters<typeof startSandbox>[0]
  nameOf(spec: SandboxSpec): string
  /** @throws AppError, as the runtime throws it */
  start(spec: SandboxSpec): Promise<void>
  replacement(spec: SandboxSpec): Replacement
}

export async function openBareSandboxes(bench: EngineBench, docker: Docker): Promise<BareSandboxes> {
  await ensureEmptyImage(docker)
  const installation = `test-${randomId(8)}`
  const manifest = await readManifest(bench.dist)
  const volume = new DaemonVolume({ docker, installation, dist: bench.dist, manifest })
  const parts = { docker, network: new SandboxNetwork(docker, installation), volume, egress: undefined, connectsLate: true }
  const plan: ContainerPlan = {
    installation,
    ociRuntime: 'runc',
    pidsLimit: 100,
    diskLimit: false,
    network: networkName(installation),
    resolvers: [],
    writesResolvers: false,
    ipv6Loopback: false,
    maxOpenFiles: undefined,
    seccomp: undefined,
    systemPaths: { masked: [], readOnly: [] },
    daemon: { volume: volume.name, labels: volume.labels, mount: manifest.mount, command: manifest.command },
  }
  const nameOf = (spec: SandboxSpec): string => containerName(installation, spec)
  return {
    installation,
    parts,
    nameOf,
    replacement: (spec) => ({ installation, optionsFor: (image) => containerSpec(plan, spec, image) }),
    async start(spec) {
      const options = containerSpec(plan, spec, EMPTY_IMAGE)
      await startSandbox(parts, { name: nameOf(spec), options, policy: spec.egress, signal: undefined }).catch((err: unknown) => {
        throw toAppError(err, 'The sandbox could not be started.')
      })
    },
  }
}
