import type Docker from 'dockerode'
import { timedStep } from '@sandyard/kit/async/timed-step'
import { buildImage, type BaseImageOptions } from '../images/base-image.ts'
import { contextHash, packContext, readContext, type ContextFile } from '../images/build-context.ts'
import { ensureDebianImage } from '../images/debian-image.ts'
import { imageExists } from '../engine/image-exists.ts'

/** The folder with the guard's Dockerfile and program. */
export const GUARD_FOLDER = new URL('../../../../docker/guard/', import.meta.url)

/**
 * Ensures that the guard's image is on the engine, and returns its name: `sandyard/guard:<hash of its sources>`.
 *
 * @throws AppError `failed_precondition` when it cannot be built: without it no sandbox starts
 */
export async function ensureGuardImage(docker: Docker, options: BaseImageOptions): Promise<string> {
  const { progress, outbound } = options
  const context = await readContext(GUARD_FOLDER)
  const image = nameOf(context)
  if (await imageExists(docker, image)) return image
  await ensureDebianImage(docker, options)
  await timedStep(
    (line) => progress.step(line),
    "building the egress guard from Debian's packages, once, about ten seconds",
    () => buildImage(docker, { context: packContext(context), image, progress, outbound }),
  )
  return image
}

/** The name of the image of this version, even if the engine does not have it. */
export async function guardImage(): Promise<string> {
  return nameOf(await readContext(GUARD_FOLDER))
}

function nameOf(context: readonly ContextFile[]): string {
  return `sandyard/guard:${contextHash(context)}`
}
