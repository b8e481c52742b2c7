import type Docker from 'dockerode'
import { timedStep } from '../../packages/kit/src/async/timed-step.ts'
import { AppError } from '../../packages/kit/src/errors/app-error.ts'
import { unlessStatus } from '../../packages/runtime-docker/src/engine/docker-errors.ts'
import { ensureDebianImage } from '../../packages/runtime-docker/src/images/debian-image.ts'
import { tryPull } from '../../packages/runtime-docker/src/images/pull-image.ts'
import { buildStandIn, type StandInBuild } from './build-stand-in.ts'
import { findImage } from './find-image.ts'
import type { Recipe, StandIn } from './stand-in.ts'

export interface ImagesOptions extends StandInBuild {
  readonly standIns: readonly StandIn[]
}

/**
 * Makes the stand-ins that the engine lacks, or whose sources have changed. A missing one that can be pulled is pulled. An image of the
 * same name that this project did not make stays as it is.
 *
 * @throws AppError `failed_precondition` at the first failure, after which the images so far are complete
 */
export async function makeImages(docker: Docker, options: ImagesOptions): Promise<void> {
  const { standIns, progress } = options
  const say = (line: string): void => progress.step(line)
  const registry = { isReached: true }
  for (const standIn of standIns) {
    const { state, id } = await findImage(docker, standIn, options.authorities)
    if (state === 'current') say(`${standIn.image}: a stand-in is there`)
    else if (state === 'theirs') say(`${standIn.image}: is there, and is not a stand-in`)
    else if (standIn.recipe === 'debian') await ensureDebianImage(docker, { progress })
    else if (standIn.recipe === 'none') reportImpossible(standIn, standIns, say)
    else if (state === 'missing' && (await isPulled(docker, standIn.image, { registry, progress }))) continue
    else await make(docker, standIn as StandIn & { readonly recipe: Recipe }, { ...options, formerId: id })
  }
}

interface PullOptions extends Pick<StandInBuild, 'progress'> {
  /** After the first failure no other pull is tried in this run. */
  readonly registry: { isReached: boolean }
}

async function isPulled(docker: Docker, image: string, { registry, progress }: PullOptions): Promise<boolean> {
  if (!registry.isReached) return false
  const say = (line: string): void => progress.step(line)
  const reason = await timedStep(say, `pulling ${image}`, () => tryPull(docker, image, { progress }))
  if (reason === undefined) return true
  registry.isReached = false
  say(`${image} could not be pulled: ${reason}`)
  return false
}

/** Only a failure when it was asked for. */
function reportImpossible({ image, madeOf }: StandIn, standIns: readonly StandIn[], say: (line: string) => void): void {
  const sentence = `${image} cannot be made: ${madeOf}. Pull it where a registry is reached.`
  if (standIns.length === 1) throw new AppError('failed_precondition', sentence)
  say(sentence)
}

async function make(
  docker: Docker,
  standIn: StandIn & { readonly recipe: Recipe },
  { authorities, progress, formerId }: StandInBuild & { readonly formerId: string | undefined },
): Promise<void> {
  await ensureDebianImage(docker, { progress })
  await timedStep(
    (line) => progress.step(line),
    `making ${standIn.image} (${standIn.madeOf})`,
    () => buildStandIn(docker, standIn, { authorities, progress }),
  )
  // The engine keeps the former image as long as a container or another name uses it.
  if (formerId !== undefined) await unlessStatus(404, () => unlessStatus(409, () => docker.getImage(formerId).remove()))
}
