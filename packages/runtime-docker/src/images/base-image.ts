import type Docker from 'dockerode'
import type { ImageRef } from '@sandyard/runtime/types'
import { AppError } from '@sandyard/kit/errors/app-error'
import { contextHash, packContext, readContext, type ContextFile } from './build-context.ts'
import { ensureDebianImage } from './debian-image.ts'
import { followAnswer, type EngineNews } from './follow-answer.ts'
import { imageExists } from './image-exists.ts'
import type { ImageProgress } from './image-progress.ts'

/** The folder with the Dockerfile of the `base` template. */
export const BASE_TEMPLATE_FOLDER = new URL('../../../../docker/base-template/', import.meta.url)

export interface BaseImageOptions {
  readonly progress: ImageProgress
  /** Debian's package mirror, where an image has to be made without a registry. */
  readonly mirror?: string | undefined
}

/**
 * Makes sure that the image of the `base` template is on the engine, and returns its name: `sandyard/base:<hash of its sources>`.
 * When it is there, this is one question to the engine.
 *
 * @throws AppError `failed_precondition` with the line on which the build failed
 */
export async function ensureBaseImage(docker: Docker, { progress, mirror }: BaseImageOptions): Promise<ImageRef> {
  const context = await readContext(BASE_TEMPLATE_FOLDER)
  const image = `sandyard/base:${contextHash(context)}`
  if (await imageExists(docker, image)) return image
  await ensureDebianImage(docker, { progress, mirror })
  progress.step('building the "base" template from Debian\'s packages, once, one to three minutes ...')
  await buildImage(docker, { context, image, progress })
  return image
}

interface BuildOptions {
  readonly context: readonly ContextFile[]
  readonly image: string
  readonly progress: ImageProgress
}

/** Builds with the engine's classic builder, which every engine has. The tag appears only when all of it went well. */
export async function buildImage(docker: Docker, { context, image, progress }: BuildOptions): Promise<void> {
  const stream = await docker.buildImage(packContext(context), {
    t: image,
    forcerm: true,
    version: '1',
    labels: { 'sandyard.image': image },
  })
  const onNews = ({ stream: text, status }: EngineNews): void => {
    for (const line of (text ?? status ?? '').split('\n')) {
      const step = /^Step (\d+\/\d+) : (.*)$/.exec(line)
      if (step !== null) progress.step(`  step ${step[1]}: ${shorten(step[2] ?? '')}`)
      else if (line.trim() !== '') progress.detail(line.trim())
    }
  }
  try {
    await followAnswer(stream, onNews)
  } catch (err) {
    throw failure(image, err as Error)
  }
}

const SHOWN_CHARS = 70

function shorten(instruction: string): string {
  const text = instruction.replaceAll(/\s+/g, ' ')
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}...` : text
}

function failure(image: string, cause: Error): AppError {
  const sentence = `The image ${image} could not be built (${cause.message}): check that Debian's package mirror is reached from containers, and run this again.`
  return new AppError('failed_precondition', sentence, { cause })
}
