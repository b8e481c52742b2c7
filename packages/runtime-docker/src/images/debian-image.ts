import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { timedStep } from '@sandyard/kit/async/timed-step'
import { AppError } from '@sandyard/kit/errors/app-error'
import { DIRECT, type Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import { findProgram } from '../host/find-program.ts'
import { installPackages } from '../host/install-packages.ts'
import { makeDebianRootfs } from './debian-rootfs.ts'
import { followAnswer } from '../engine/follow-answer.ts'
import { imageExists } from '../engine/image-exists.ts'
import type { ImageProgress } from './image-progress.ts'
import { tryPull } from './pull-image.ts'
import { tarFolders } from './tar-folders.ts'

/** The base of our own images. */
export const DEBIAN_IMAGE = 'debian:bookworm-slim'

const SUITE = 'bookworm'
const DEFAULT_MIRROR = 'http://deb.debian.org/debian'

export interface DebianImageOptions {
  readonly progress: ImageProgress
  /** Debian's package mirror, for the image made from packages. */
  readonly mirror?: string | undefined
  /** For the packages; the pull is the engine's, with the settings of the engine. */
  readonly outbound?: Outbound | undefined
  /** The name of the image, for tests. */
  readonly image?: string
}

/**
 * Ensures that the engine has `debian:bookworm-slim`: an existing image is used, else it is pulled, else it is made from Debian's
 * packages under that name, labelled `sandyard.stand-in`. A pull that cannot work ends within seconds.
 *
 * @throws AppError `failed_precondition` that says what to do when all three fail
 */
export function ensureDebianImage(docker: Docker, options: DebianImageOptions): Promise<void> {
  const { image = DEBIAN_IMAGE } = options
  return making.run(image, async () => {
    if (!(await imageExists(docker, image))) await makeDebianImage(docker, { ...options, image })
  })
}

/** Concurrent calls for the images that are built on it share one run. */
const making = new SingleFlight<string, void>()

async function makeDebianImage(
  docker: Docker,
  { progress, mirror, outbound = DIRECT, image }: DebianImageOptions & { readonly image: string },
): Promise<void> {
  const say = (line: string): void => progress.step(line)
  const reason = await timedStep(say, `pulling ${image}`, () => tryPull(docker, image, { progress }))
  if (reason === undefined) return
  say(`${image} could not be pulled: ${reason}`)
  if (process.getuid?.() !== 0) {
    throw new AppError(
      'failed_precondition',
      `${image} is not on the engine: run "docker pull ${image}" where Docker Hub is reached, or run this as root.`,
    )
  }
  if (findProgram('mmdebstrap') === undefined)
    await installPackages(['mmdebstrap', 'debian-archive-keyring'], { say, env: proxyVariables(outbound) })
  await timedStep(say, `making ${image} from Debian's packages (mmdebstrap), about twenty seconds`, async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'sandyard-debian-'))
    try {
      const folder = join(scratch, 'rootfs')
      await makeDebianRootfs({ suite: SUITE, mirror: mirror ?? DEFAULT_MIRROR, folder, progress, outbound })
      await importRootfs(docker, folder, image)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  })
}

async function importRootfs(docker: Docker, folder: string, image: string): Promise<void> {
  const archive = tarFolders([{ folder, names: ['.'] }], ['--one-file-system'])
  const [repo, tag] = image.split(':')
  const changes = [
    'CMD ["bash"]',
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'LABEL sandyard.stand-in=mmdebstrap',
  ]
  const answer = await docker.importImage(archive.stream, { repo, tag, changes })
  await followAnswer(answer)
  const failure = await archive.failure
  if (failure === undefined) return
  // The engine rejects an archive that breaks off, but not one in which a file is missing.
  await docker.getImage(image).remove({ force: true })
  throw new Error(`tar failed on the root file system: ${failure}`)
}
