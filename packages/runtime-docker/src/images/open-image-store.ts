import { DIRECT } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import type Docker from 'dockerode'
import type { DockerRuntimeOptions } from '../runtime-options.ts'
import type { CgroupFacts } from '../engine/engine-facts.ts'
import { DockerImageStore } from './docker-image-store.ts'
import { DockerfileBuilds } from './dockerfile/dockerfile-builds.ts'
import { MAX_IMAGE_SIZE_BYTES } from './image-size.ts'
import type { KeptImages } from './kept-images.ts'
import type { SharedImages } from './shared-images.ts'
import { AllowedRegistries } from './registry/allowed-registries.ts'
import { ecrEndpoint } from './registry/ecr-login.ts'
import { PullJournal } from './registry/pull-journal.ts'
import { Puller } from './registry/puller.ts'

/** A reachable registry answers within a second; the rest is for slow connections. */
const FIRST_ANSWER_MS = 30_000

export interface ImageStoreParts {
  readonly docker: Docker
  readonly kept: KeptImages
  readonly shared: SharedImages
  readonly options: DockerRuntimeOptions
  readonly cgroups: CgroupFacts
}

export function openImageStore({ docker, kept, shared, options, cgroups }: ImageStoreParts): DockerImageStore {
  const { installation, baseImage, maxImageSizeBytes: maxSizeBytes = MAX_IMAGE_SIZE_BYTES, outbound = DIRECT } = options
  const registries = new AllowedRegistries(options.registries ?? [])
  const journal = new PullJournal(docker, installation)
  const puller = new Puller({
    docker,
    installation,
    kept,
    journal,
    maxSizeBytes,
    ecrEndpoint: options.ecrEndpoint ?? ecrEndpoint,
    outbound,
    firstAnswerMs: options.registryTimeoutMs ?? FIRST_ANSWER_MS,
  })
  const builds = new DockerfileBuilds({
    docker,
    installation,
    kept,
    cgroups,
    maxSizeBytes,
    proxyVariables: proxyVariables(outbound),
    pull: (reference, { onLine, signal }) => store.pull({ reference, onLine }, signal),
  })
  const store: DockerImageStore = new DockerImageStore({
    docker,
    installation,
    kept,
    shared,
    puller,
    builds,
    journal,
    baseImage,
    registries,
    maxSizeBytes,
  })
  return store
}
