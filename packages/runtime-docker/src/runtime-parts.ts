import { isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type Docker from 'dockerode'
import type { Origin } from '@sandyard/runtime/origin'
import type { RuntimeHost } from '@sandyard/runtime/types'
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
import { readEngineFacts } from './engine/engine-facts.ts'
import { securityWarnings, takesProfile } from './engine/security-warnings.ts'
import type { DockerImageStore } from './images/docker-image-store.ts'
import { openImageStore } from './images/open-image-store.ts'
import { KeptImages } from './images/kept-images.ts'
import { SharedImages } from './images/shared-images.ts'
import { VolumeFreeImages } from './images/volume-free-images.ts'
import { networkName } from './labels.ts'
import type { Member } from './egress/member-keeper.ts'
import { NetworkMembers } from './network/network-members.ts'
import { SandboxNetwork } from './network/sandbox-network.ts'
import { checkOptions, type DockerRuntimeOptions } from './runtime-options.ts'
import { originOf } from './runtime-origin.ts'
import { SECCOMP_JSON } from './seccomp/seccomp-profile.ts'
import { Snapshots } from './snapshots/snapshots.ts'
import { LOCAL_DRIVER, type VolumeDriver } from './volumes/volume-driver.ts'

const DEFAULT_PIDS_LIMIT = 4096

/** The parts of a runtime; all exist before the first sandbox. */
export interface RuntimeParts extends StartParts {
  readonly installation: string
  readonly log: Logger
  readonly host: RuntimeHost
  readonly snapshots: Snapshots
  /** What handles and snapshots of this runtime say of their origin. */
  readonly origin: () => Promise<Origin>
  readonly kept: KeptImages
  readonly volumeFree: VolumeFreeImages
  readonly images: DockerImageStore
  readonly imageTool: readonly string[]
  /** Empty when the distribution has none. */
  readonly volumeServer: readonly string[]
  readonly egress: EgressControl | undefined
  readonly wantedEgress: DockerRuntimeOptions['wantedEgress']
  readonly hasGateway: boolean
  /** Undefined where the api and the proxy run on the host. */
  readonly joinMembers: (() => Promise<readonly Member[]>) | undefined
  readonly diskLimit: boolean
  readonly plan: () => ContainerPlan
  readonly volumeDriver: VolumeDriver
  readonly daemonPort: number
  readonly maxUnreadEvents: number | undefined
}

/** Creates everything that is missing on the engine. @throws AppError with a message for the operator */
export async function openParts(options: DockerRuntimeOptions): Promise<RuntimeParts> {
  checkOptions(options)
  const { installation, daemonDist, log } = options
  const manifest = await readManifest(daemonDist)
  const docker = await connectEngine(options.dockerHost, options.callDeadlines, log.child({ part: 'runtime.engine' }))
  const facts = await readEngineFacts(docker, options.ociRuntime)
  for (const warning of securityWarnings(facts)) log.warn(warning)
  const network = new SandboxNetwork(docker, installation)
  const volume = new DaemonVolume({ docker, installation, dist: daemonDist, manifest })
  return engineCall('The Docker engine could not be prepared for sandboxes.', async () => {
    await Promise.all([network.ensure(), volume.ensure()])
    const diskLimit = await canLimitDisk(docker, installation)
    const systemPaths = withDefaults(SYSTEM_PATHS, await readDefaultPaths(docker, installation))
    const egress = await openEgressUnless(docker, network, options)
    if (egress !== undefined) {
      const onFailure = (err: unknown): void => log.warn({ err }, 'a sandbox that ended is registered until the next repair')
      network.beforeLeave((address) => egress.unregister(address).catch(onFailure))
    }
    const { networkMembers: value } = options
    const members = value === undefined ? undefined : new NetworkMembers({ docker, network, value, log })
    const join = members && (() => members.join())
    if (join !== undefined) await (egress === undefined ? join() : egress.setMembers(join))
    const plan = (): ContainerPlan => ({
      installation,
      ociRuntime: facts.ociRuntime,
      pidsLimit: options.pidsLimit ?? DEFAULT_PIDS_LIMIT,
      diskLimit,
      network: networkName(installation),
      resolvers: egress?.resolvers ?? options.resolvers ?? [],
      writesResolvers: !facts.hasEngineResolver,
      ipv6Loopback: egress?.host.hasIpv6 ?? false,
      maxOpenFiles: egress?.host.maxOpenFiles,
      seccomp: takesProfile(facts) ? SECCOMP_JSON : undefined,
      systemPaths,
      daemon: { volume: volume.name, labels: volume.labels, mount: manifest.mount, command: manifest.command },
    })
    const origin = originOf(docker)
    const kept = new KeptImages(docker, installation)
    const shared = new SharedImages(docker, installation, {
      base: options.baseImage,
      guard: egress === undefined ? undefined : await guardImage(),
    })
    const images = openImageStore({ docker, kept, shared, options, cgroups: facts.cgroups })
    return {
      docker,
      installation,
      log,
      host: facts.host,
      network,
      volume,
      egress,
      connectsLate: facts.hasEngineResolver,
      wantedEgress: options.wantedEgress,
      joinMembers: join,
      hasGateway: egress !== undefined && options.egressGateway !== undefined,
      snapshots: new Snapshots({ docker, installation, origin, maxLayers: options.maxLayers }),
      origin,
      kept,
      volumeFree: new VolumeFreeImages({ docker, installation, kept }),
      images,
      imageTool: manifest.imageTool ?? [],
      volumeServer: manifest.volumeServer ?? [],
      volumeDriver: options.volumeDriver ?? LOCAL_DRIVER,
      plan,
      diskLimit,
      daemonPort: manifest.port,
      maxUnreadEvents: options.maxUnreadEvents,
    }
  })
}

/** Undefined where the operator accepts that the host cannot enforce the rules. */
async function openEgressUnless(
  docker: Docker,
  network: SandboxNetwork,
  options: DockerRuntimeOptions,
): Promise<EgressControl | undefined> {
  try {
    return await openEgress(docker, network, options)
  } catch (err) {
    if (!isAppError(err, 'failed_precondition') || options.allowUnenforcedEgress !== true) throw err
    options.log.warn({ err }, 'the egress rules are not enforced on this host: sandboxes reach what the host reaches')
    return undefined
  }
}
