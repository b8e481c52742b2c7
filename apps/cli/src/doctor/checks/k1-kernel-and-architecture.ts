import { compareVersions, parseVersion } from '@sandyard/runtime-docker/engine/version-number'
import { fail, ok, warn, worstOf, type Check, type Finding } from '../check.ts'
import type { EngineInfo } from '../facts/engine-reader.ts'
import type { Facts } from '../facts/facts.ts'

/** The first kernel whose rules give the RUN steps of a Dockerfile a network of their own. */
const FOR_DOCKERFILES = [5, 16, 0, Infinity] as const
/** As `docker inspect` of an image has them, by `uname -m`. */
const IMAGE_NAMES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' }
const BASE = 'sandyard/base'
const OLD_DAYS = 90
const DAY_MS = 24 * 3_600_000

export const kernelAndArchitecture: Check = {
  id: 'K1',
  title: 'Kernel and architecture',
  checks:
    'kernel of the engine: before 5.16 warns (no builds from Dockerfiles); an image `sandyard/base` of another architecture than the host fails; one that is older than 90 days warns',
  why: 'Older kernels cannot enforce the rules for Dockerfile steps; an image of another processor runs emulated or not at all; an old image lacks security updates.',
  todo: 'Update the kernel. An image "sandyard/base" that is wrong or old is made again at the next start when it is removed: docker image rm <name>.',
  async run(facts): Promise<Finding> {
    const info = await facts.engine.info()
    const kernel = parseVersion(info.KernelVersion)
    const isOld = kernel !== undefined && compareVersions(kernel, FOR_DOCKERFILES) < 0
    const found = `Linux ${info.KernelVersion} on ${info.Architecture}`
    return worstOf(
      [isOld ? warn(`${found}: before 5.16 images cannot be built from Dockerfiles`) : undefined, await checkBase(facts, info)],
      found,
    )
  },
}

async function checkBase({ engine, machine }: Facts, { Architecture }: EngineInfo): Promise<Finding | undefined> {
  const filters = JSON.stringify({ reference: [BASE] })
  const images = await engine.read('the base image', (docker) => docker.listImages({ filters }))
  const [newest] = images.toSorted((left, right) => right.Created - left.Created)
  if (newest === undefined) return undefined
  const image = await engine.read('the base image', (docker) => docker.getImage(newest.Id).inspect())
  const name = newest.RepoTags?.[0] ?? BASE
  if (image.Architecture !== (IMAGE_NAMES[Architecture] ?? Architecture)) {
    return fail(`${name} is for ${image.Architecture}, the host is ${Architecture}`)
  }
  const days = Math.floor((machine.now() - newest.Created * 1000) / DAY_MS)
  return days > OLD_DAYS ? warn(`${name} was made ${days} days ago`) : ok(name)
}
