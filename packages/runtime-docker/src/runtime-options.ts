import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ImageRef } from '@sandyard/runtime/types'
import type { DaemonDist } from './daemon-volume/daemon-dist.ts'
import { parseCidr } from './egress/cidr.ts'
import type { ImageProgress } from './images/image-progress.ts'
import type { EcrEndpoint } from './images/registry/ecr-login.ts'

export interface DockerRuntimeOptions {
  /** Names what belongs to this control plane on an engine that others may use too: `[a-z0-9-]`, at most 40. */
  readonly installation: string
  readonly daemonDist: DaemonDist
  readonly log: Logger
  /** Told of the images that are made at the first start. */
  readonly progress: ImageProgress
  /** `unix:///path` or `tcp://host:port`; the default socket when absent. */
  readonly dockerHost?: string | undefined
  /** An OCI runtime that the engine knows; the engine's default when absent. */
  readonly ociRuntime?: string | undefined
  readonly pidsLimit?: number
  /** The resolvers of sandboxes; those of the engine's host when empty. */
  readonly resolvers?: readonly string[]
  /** Private networks that sandboxes may reach. */
  readonly openPrivate?: readonly string[]
  /** Networks of the control plane itself, which stay closed whatever else is open. */
  readonly controlNetworks?: readonly string[]
  /** Where the proxy and the api connect from; the host when empty. */
  readonly ingressSources?: readonly string[]
  /** Accepts an OCI runtime on which the egress rules are not enforced. */
  readonly allowUnenforcedEgress?: boolean
  /** What `e2bdev/base` stands for, with any tag; without it, it is pulled as any other image. */
  readonly baseImage?: ImageRef
  /** The registries whose images may be used, as references write them (`docker.io`, `registry.example:5000`); every one when empty. */
  readonly registries?: readonly string[]
  /** Of all layers, unpacked; larger images are not used. */
  readonly maxImageSizeBytes?: number
  /** Where Amazon's registry gives out its passwords; AWS itself when absent. */
  readonly ecrEndpoint?: EcrEndpoint
  /** How long a registry, and what gives out its passwords, may take to answer at all. */
  readonly registryTimeoutMs?: number
  /** How many layers an image may have before a snapshot of it is made into one. */
  readonly maxLayers?: number
}

const INSTALLATION = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** @throws AppError `invalid_argument` that names the wrong option */
export function checkOptions(options: DockerRuntimeOptions): void {
  const { installation, resolvers = [], openPrivate = [], controlNetworks = [], ingressSources = [] } = options
  if (!INSTALLATION.test(installation)) throw new AppError('invalid_argument', `"${installation}" is not a name for an installation.`)
  for (const network of [...resolvers, ...openPrivate, ...controlNetworks, ...ingressSources]) {
    if (parseCidr(network) === undefined) throw new AppError('invalid_argument', `"${network}" is not an IPv4 address or network.`)
  }
}
