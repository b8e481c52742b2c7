import type Docker from 'dockerode'
import { AppError } from '../../packages/kit/src/errors/app-error.ts'
import { statusOf } from '../../packages/runtime-docker/src/engine/docker-errors.ts'
import { findImage } from './find-image.ts'
import type { ImagesOptions } from './make-images.ts'

/**
 * Removes stand-ins, and no other image.
 *
 * @throws AppError `failed_precondition` for one that a container uses
 */
export async function removeImages(docker: Docker, { standIns, authorities, progress }: ImagesOptions): Promise<void> {
  // The others are built on the first one.
  for (const standIn of standIns.toReversed()) {
    const { state } = await findImage(docker, standIn, authorities)
    if (state === 'missing') continue
    if (state === 'theirs') progress.step(`${standIn.image}: is not a stand-in and stays`)
    else await remove(docker, standIn.image, (line) => progress.step(line))
  }
}

async function remove(docker: Docker, image: string, say: (line: string) => void): Promise<void> {
  try {
    await docker.getImage(image).remove()
  } catch (cause) {
    if (statusOf(cause) === 404) return
    if (statusOf(cause) !== 409) throw cause
    throw new AppError('failed_precondition', `${image} is used by a container: remove that first, and run this again.`, { cause })
  }
  say(`${image}: removed`)
}
