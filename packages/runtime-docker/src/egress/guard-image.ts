import type Docker from 'dockerode'
import { buildImage } from '../images/base-image.ts'
import { contextHash, readContext } from '../images/build-context.ts'
import { ensureDebianImage } from '../images/debian-image.ts'
import { imageExists } from '../images/image-exists.ts'
import type { ImageProgress } from '../images/image-progress.ts'

/** The folder with the guard's Dockerfile and program. */
export const GUARD_FOLDER = new URL('../../../../docker/guard/', import.meta.url)

/**
 * Makes sure that the guard's image is on the engine, and returns its name: `sandyard/guard:<hash of its sources>`.
 *
 * @throws AppError `failed_precondition` when it cannot be built: without it no sandbox starts
 */
export async function ensureGuardImage(docker: Docker, progress: ImageProgress): Promise<string> {
  const context = await readContext(GUARD_FOLDER)
  const image = `sandyard/guard:${contextHash(context)}`
  if (await imageExists(docker, image)) return image
  await ensureDebianImage(docker, { progress })
  progress.step("building the egress guard from Debian's packages, once, about ten seconds ...")
  await buildImage(docker, { context, image, progress })
  return image
}
