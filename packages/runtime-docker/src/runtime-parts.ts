import { loadOnce } from '@sandyard/kit/async/load-once'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Origin } from '@sandyard/runtime/origin'
import type { ContainerPlan } from './containers/container-spec.ts'
import { SYSTEM_PATHS, withDefaults } from './containers/system-paths.ts'
import type { StartParts } from './containers/run-container.ts'
import { readManifest } from './daemon-volume/daemon-dist.ts'
import { DaemonVolume } from './daemon-volume/daemon-volume.ts'
import type { EgressControl } from './egress/egress-control.ts'
import { guardImage } from './egress/guard-image.ts'
import { openEgress } from './egress/open-egress.ts'
import { connectEngine } from './engine/connect-engine.ts'
import { readDefaultPaths } from './engine/default-paths.ts'
import { canLimitDisk } from './engine/disk-limit.ts'
import { engineCall } from './engine/docker-errors.ts'
import { engineId } from './engine/engine-id.ts'
import { readEngineFacts } from './engine/engine-facts.ts'
import { securityWarnings, takesProfile } from './engine/security-warnings.ts'
import type { DockerImageStore } from './images/docker-image-store.ts'
import { openImageStore, type ImageStoreParts } from './images/open-image-store.ts'
import { KeptImages } from './images/kept-images.ts'
import { SharedImages } from './images/shared-images.ts'
import { VolumeFreeImages } from './images/volume-free-images.ts'
import { networkName } from './labels.ts'
import { SandboxNetwork } from './network/sandbox-network.ts'
import { checkOptions, type DockerRuntimeOptions } from './runtime-options.ts'
import { SECCOMP_JSON } from './seccomp/seccomp-profile.ts'
import { Snapshots } from './snapshots/snapshots.ts'

const DEFAULT_PIDS_LIMIT = 4096

export const RUNTIME_NAME = 'docker'
/** The version of the formats of handles and snapshots. */
const FORMAT = 1
const ENGINE_ID_TIMEOUT_MS = 30_000

/** The parts of a runtime; all exist before the first sandbox. */
export interface RuntimeParts extends StartParts {
  readonly installation: string
  readonly log: Logger
  readonly snapshots: Snapshots
  /** What handles and snapshots of this runtime say of their origin. */
  readonly origin: () => Promise<Origin>
  readonly kept: KeptImages
  readonly volumeFree: VolumeFreeImages
  readonly images: DockerImageStore
  readonly imageTool: readonly string[]
  readonly egress: EgressControl | undefined
  readonly diskLimit: boolean
  readonly plan: () => ContainerPlan
  readonly daemonPort: number
  readonly maxUnreadEvents: number | undefined
}

/** Creates everything that is missing on the engine. @throws AppError with a message for the operator */
export async function openParts(options: DockerRuntimeOptions): Promise<RuntimeParts> {
  checkOptions(options)
  const { installation, daemonDist, log } = options
  const manifest = await readManifest(daemonDist)
  const docker = await connectEngine(options.dockerHost, options.callDeadlines)
  const facts = await readEngineFacts(docker, options.ociRuntime)
  if (!facts.sharesNetworkStack && options.allowUnenforcedEgress !== true) throw unenforced(facts.ociRuntime)
  for (const warning of securityWarnings(facts)) log.warn(warning)
  const network = new SandboxNetwork(docker, installation)
  const volume = new DaemonVolume({ docker, installation, dist: daemonDist, manifest })
  return engineCall('The Docker engine could not be prepared for sandboxes.', async () => {
    await Promise.all([network.ensure(), volume.ensure()])
    const diskLimit = await canLimitDisk(docker, installation)
    const systemPaths = withDefaults(SYSTEM_PATHS, await readDefaultPaths(docker, installation))
    const egress = facts.sharesNetworkStack ? await openEgress(docker, options) : undefined
    const plan = (): ContainerPlan => ({
      installation,
      ociRuntime: facts.ociRuntime,
      pidsLimit: options.pidsLimit ?? DEFAULT_PIDS_LIMIT,
      diskLimit,
      network: egress === undefined ? networkName(installation) : 'none',
      resolvers: egress?.resolvers ?? options.resolvers ?? [],
      ipv6Loopback: egress?.host.hasIpv6 ?? false,
      maxOpenFiles: egress?.host.maxOpenFiles,
      seccomp: takesProfile(facts) ? SECCOMP_JSON : undefined,
      systemPaths,
      daemon: { volume: volume.name, labels: volume.labels, mount: manifest.mount, command: manifest.command },
    })
    const origin = loadOnce(async (): Promise<Origin> => {
      const engine = await engineId(docker, AbortSignal.timeout(ENGINE_ID_TIMEOUT_MS))
      return { runtime: RUNTIME_NAME, version: FORMAT, engine }
    })
    const kept = new KeptImages(docker, installation)
    const shared = new SharedImages(docker, installation, {
      base: options.baseImage,
      guard: egress === undefined ? undefined : await guardImage(),
    })
    const images = openImageStore({ docker, kept, shared, options, cgroups: facts.cgroups, confine: confineTo(network, egress) })
    return {
      docker,
      installation,
      log,
      network,
      volume,
      egress,
      snapshots: new Snapshots({ docker, installation, origin, maxLayers: options.maxLayers }),
      origin,
      kept,
      volumeFree: new VolumeFreeImages({ docker, installation, kept }),
      images,
      imageTool: manifest.imageTool ?? [],
      plan,
      diskLimit,
      daemonPort: manifest.port,
      maxUnreadEvents: options.maxUnreadEvents,
    }
  })
}

/** The steps of a Dockerfile share the network of a sandbox. First the ways around its rules are closed. */
function confineTo(network: SandboxNetwork, egress: EgressControl | undefined): ImageStoreParts['confine'] {
  return async ({ Id, State, HostConfig, NetworkSettings }) => {
    const bridge = await network.ensure()
    const port = Object.values(NetworkSettings.Networks).find(({ NetworkID }) => NetworkID === bridge.id)
    if (port === undefined) throw new AppError('failed_precondition', 'The sandbox of the build has no network.')
    const namespace = { pid: State.Pid, containerId: Id, resolvers: HostConfig.Dns ?? [] }
    await egress?.confine(namespace, bridge, { address: port.IPAddress, mac: port.MacAddress })
  }
}

function unenforced(ociRuntime: string): AppError {
  return new AppError(
    'failed_precondition',
    `The runtime "${ociRuntime}" brings its own network stack, so that the egress rules would not bind sandboxes: ` +
      'choose another SANDYARD_SANDBOX_RUNTIME, or accept that with SANDYARD_ALLOW_UNENFORCED_EGRESS=true.',
  )
}
