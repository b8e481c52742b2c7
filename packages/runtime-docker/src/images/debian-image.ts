import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findProgram } from '../host/find-program.ts'
import { installPackages } from '../host/install-packages.ts'
import { makeDebianRootfs } from './debian-rootfs.ts'
import { followAnswer } from './follow-answer.ts'
import { imageExists } from './image-exists.ts'
import type { ImageProgress } from './image-progress.ts'
import { tryPull } from './pull-image.ts'

/** What our own images are built on. */
export const DEBIAN_IMAGE = 'debian:bookworm-slim'

const SUITE = 'bookworm'
const DEFAULT_MIRROR = 'http://deb.debian.org/debian'

export interface DebianImageOptions {
  readonly progress: ImageProgress
  /** Debian's package mirror for the stand-in. */
  readonly mirror?: string | undefined
  /** The name to make, for tests. */
  readonly image?: string
}

/**
 * Makes sure that the engine has `debian:bookworm-slim`: as it is there, else pulled, else made from Debian's packages
 * under that name, labelled `sandyard.stand-in`. A pull that cannot work is given up within seconds.
 *
 * @throws AppError `failed_precondition` that says what to do where none of the three works
 */
export async function ensureDebianImage(docker: Docker, { progress, mirror, image = DEBIAN_IMAGE }: DebianImageOptions): Promise<void> {
  if (await imageExists(docker, image)) return
  progress.step(`pulling ${image} ...`)
  const reason = await tryPull(docker, image, { progress })
  if (reason === undefined) return
  progress.step(`${image} could not be pulled (${reason})`)
  if (process.getuid?.() !== 0) {
    throw new AppError(
      'failed_precondition',
      `${image} is not on the engine: run "docker pull ${image}" where Docker Hub is reached, or run this as root.`,
    )
  }
  if (findProgram('debootstrap') === undefined)
    await installPackages(['debootstrap', 'debian-archive-keyring'], (line) => progress.step(line))
  progress.step(`making a stand-in for ${image} from Debian's packages (debootstrap), about a minute ...`)
  const scratch = await mkdtemp(join(tmpdir(), 'sandyard-debian-'))
  try {
    const folder = join(scratch, 'rootfs')
    await makeDebianRootfs({ suite: SUITE, mirror: mirror ?? DEFAULT_MIRROR, folder, progress })
    await importRootfs(docker, folder, image)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function importRootfs(docker: Docker, folder: string, image: string): Promise<void> {
  const tar = spawn('tar', ['--numeric-owner', '--one-file-system', '-C', folder, '-c', '.'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => {
    tar.on('close', resolve)
    tar.on('error', () => resolve(null))
  })
  let complaint = ''
  tar.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint = (complaint + chunk).slice(-1000)))
  const [repo, tag] = image.split(':')
  const changes = [
    'CMD ["bash"]',
    'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'LABEL sandyard.stand-in=debootstrap',
  ]
  const answer = await docker.importImage(tar.stdout, { repo, tag, changes })
  await followAnswer(answer)
  // An archive that broke off is refused by the engine; one that only missed a file is not.
  if ((await ended) !== 0) {
    await docker.getImage(image).remove({ force: true })
    throw new Error(`tar failed on the root file system: ${complaint.trim()}`)
  }
}
