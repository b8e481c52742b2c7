import { AppError } from '@sandyard/kit/errors/app-error'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { EgressPolicy, ImageRef, RefusedPackets } from '@sandyard/runtime/types'
import type { DaemonDist } from './daemon-volume/daemon-dist.ts'
import type { EgressLimits } from './egress/base-rules.ts'
import { parseCidr } from './egress/ipv4.ts'
import type { CallDeadlines } from './engine/call-deadlines.ts'
import type { ImageProgress } from './images/image-progress.ts'
import type { EcrEndpoint } from './images/registry/ecr-login.ts'
import { findDriverProblem, type VolumeDriver } from './volumes/volume-driver.ts'

export interface DockerRuntimeOptions {
  /** The name of this control plane on an engine that others may use too: `[a-z0-9-]`, at most 40. */
  readonly installation: string
  readonly daemonDist: DaemonDist
  readonly log: Logger
  /** Receives the progress of the images that are made at the first start. */
  readonly progress: ImageProgress
  /** `unix:///path` or `tcp://host:port`; the default socket when absent. */
  readonly dockerHost?: string | undefined
  /** An OCI runtime of the engine; the engine's default when absent. */
  readonly ociRuntime?: string | undefined
  readonly pidsLimit?: number
  /** The resolvers of sandboxes; those of the engine's host when empty. */
  readonly resolvers?: readonly string[]
  /** Private networks that sandboxes may reach. */
  readonly openPrivate?: readonly string[]
  /** Networks of the control plane itself. They stay closed, even if a private network that contains them is open. */
  readonly controlNetworks?: readonly string[]
  /** Where the proxy and the api connect from; the host when empty. */
  readonly ingressSources?: readonly string[]
  /** The value of the label `sandyard.member` of the containers of the proxy and the api, which join the sandbox network. */
  readonly networkMembers?: string | undefined
  /** The wanted policies of sandboxes, from their owner, for repairs. A sandbox that is not in the answer is closed. */
  readonly wantedEgress: (sandboxIds: readonly string[]) => Promise<ReadonlyMap<string, EgressPolicy>>
  /** The ports of the egress gateway on the engine's host; without it no policy can use the gateway. */
  readonly egressGateway?: { readonly tcpPort: number; readonly dnsPort: number }
  /** Receives a sample of the packets that sandboxes were refused. */
  readonly onRefused?: (refused: readonly RefusedPackets[]) => void
  /** What one sandbox may send to the network. */
  readonly egressLimits?: EgressLimits
  /** How the network outside is reached. Sandboxes with an open policy may reach this proxy, wherever it is. */
  readonly outbound?: Outbound
  /** Accepts a host whose kernel cannot enforce the egress rules. */
  readonly allowUnenforcedEgress?: boolean
  /** The image for `e2bdev/base` with any tag. When absent, `e2bdev/base` is pulled like any other image. */
  readonly baseImage?: ImageRef
  /**
   * The registries whose images may be used, as in references (`docker.io`, `registry.example:5000`; without a port: every port).
   * `*` means every public one. Default: every public one.
   */
  readonly registries?: readonly string[]
  /** The largest unpacked size of all layers. Larger images are refused. */
  readonly maxImageSizeBytes?: number
  /** The service that issues passwords for Amazon's registry; AWS itself when absent. */
  readonly ecrEndpoint?: EcrEndpoint
  /** Deadline of the first answer of a registry, and of the service that issues its passwords. */
  readonly registryTimeoutMs?: number
  /** How the engine makes new volumes of users. Default: its driver `local`, without options. */
  readonly volumeDriver?: VolumeDriver
  /** Deadlines of calls to the engine that replace the defaults. */
  readonly callDeadlines?: Partial<CallDeadlines>
  /** The cap of unread events; over it the reader's stream ends. */
  readonly maxUnreadEvents?: number
  /** The number of layers at which a snapshot is flattened into one layer. */
  readonly maxLayers?: number
}

const INSTALLATION = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** @throws AppError `invalid_argument` that names the invalid option */
export function checkOptions(options: DockerRuntimeOptions): void {
  const { installation, resolvers = [], openPrivate = [], controlNetworks = [], ingressSources = [] } = options
  if (!INSTALLATION.test(installation)) throw new AppError('invalid_argument', `"${installation}" is not a name for an installation.`)
  for (const network of [...resolvers, ...openPrivate, ...controlNetworks, ...ingressSources]) {
    if (parseCidr(network) === undefined) throw new AppError('invalid_argument', `"${network}" is not an IPv4 address or network.`)
  }
  const problem = options.volumeDriver === undefined ? undefined : findDriverProblem(options.volumeDriver)
  if (problem !== undefined) throw new AppError('invalid_argument', `${problem}.`)
}
