import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type Docker from 'dockerode'
import { timedStep } from '@sandyard/kit/async/timed-step'
import { DIRECT, type Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import type { ImageRef } from '@sandyard/runtime/types'
import { AppError } from '@sandyard/kit/errors/app-error'
import { contextHash, readContext, type ContextFile } from './build-context.ts'
import { ensureDebianImage } from './debian-image.ts'
import { followAnswer, type EngineNews } from '../engine/follow-answer.ts'
import { imageExists } from '../engine/image-exists.ts'
import type { ImageProgress } from './image-progress.ts'
import { fetchNodeFiles, type NodeVersions } from './node-files.ts'
import { tarFolders } from './tar-folders.ts'

/** The folder with the Dockerfile of the `base` template. */
export const BASE_TEMPLATE_FOLDER = new URL('../../../../docker/base-template/', import.meta.url)

export interface BaseImageOptions {
  readonly progress: ImageProgress
  /** Debian's package mirror, used when an image must be made without a registry. */
  readonly mirror?: string | undefined
  /** For Debian's packages, also those of the build's steps. */
  readonly outbound?: Outbound | undefined
}

/**
 * Ensures that the image of the `base` template is on the engine, and returns its name: `sandyard/base:<hash of its sources>`.
 * If it exists, this costs one request to the engine.
 *
 * @throws AppError `failed_precondition` with the line of output at which the build failed
 */
export async function ensureBaseImage(docker: Docker, options: BaseImageOptions): Promise<ImageRef> {
  const context = await readContext(BASE_TEMPLATE_FOLDER)
  const image = `sandyard/base:${contextHash(context)}`
  if (!(await imageExists(docker, image))) await buildBaseImage(docker, { ...options, context, image })
  return image
}

interface BaseBuild extends BaseImageOptions {
  readonly context: readonly ContextFile[]
  readonly image: ImageRef
}

async function buildBaseImage(docker: Docker, { context, image, progress, mirror, outbound }: BaseBuild): Promise<void> {
  const say = (line: string): void => progress.step(line)
  const versions = readVersions(context)
  const [fetched, debian] = await Promise.allSettled([
    timedStep(say, `getting Node ${versions.node} for sandboxes from the npm registry`, () =>
      fetchNodeFiles(versions, (line) => progress.detail(line)),
    ),
    ensureDebianImage(docker, { progress, mirror, outbound }),
  ])
  await using node = fetched.status === 'fulfilled' ? fetched.value : undefined
  if (debian.status === 'rejected') throw debian.reason
  if (node === undefined) throw (fetched as PromiseRejectedResult).reason
  const sources = [
    { folder: fileURLToPath(BASE_TEMPLATE_FOLDER), names: context.map(({ name }) => name) },
    { folder: node.folder, names: ['local'] },
  ]
  await timedStep(say, 'building the "base" template from Debian\'s packages, once, about a minute', async () => {
    const archive = tarFolders(sources, ['--owner=0', '--group=0', '--mode=a+rwX'])
    await buildImage(docker, { context: archive.stream, image, progress, outbound })
  })
}

function readVersions(context: readonly ContextFile[]): NodeVersions {
  const file = context.find(({ name }) => name === 'node.json')
  return JSON.parse(String(file?.bytes)) as NodeVersions
}

interface BuildOptions {
  /** A tar archive with a Dockerfile. */
  readonly context: Readable
  readonly image: string
  readonly progress: ImageProgress
  readonly outbound?: Outbound | undefined
}

/** Builds with the engine's classic builder, which every engine has. The tag is set only after all steps have succeeded. */
export async function buildImage(docker: Docker, { context, image, progress, outbound = DIRECT }: BuildOptions): Promise<void> {
  const stream = await docker.buildImage(context, {
    t: image,
    forcerm: true,
    version: '1',
    // The builder does not store them in the image.
    buildargs: { ...proxyVariables(outbound) },
    labels: { 'sandyard.image': image },
  })
  const onNews = ({ stream: text, status }: EngineNews): void => {
    for (const line of (text ?? status ?? '').split('\n')) {
      const step = /^Step (\d+\/\d+) : (.*)$/.exec(line)
      if (step !== null) progress.detail(`step ${step[1]}: ${shorten(step[2] ?? '')}`)
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
