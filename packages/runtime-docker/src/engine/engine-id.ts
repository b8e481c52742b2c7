import { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import { followAnswer } from './follow-answer.ts'
import { LABEL } from '../labels.ts'
import { engineCall, unlessStatus } from './docker-errors.ts'
import { EMPTY_ARCHIVE } from './empty-image.ts'

/** Shared by all installations on an engine. */
export const ENGINE_VOLUME = 'sandyard-engine'
export const ENGINE_IMAGE = 'sandyard/engine:1'

const ID = /^[a-z0-9]{32}$/

/**
 * The id of an engine, stored as a label of a volume. The id in `/info` is not usable: engines on one host have the same one.
 *
 * The engine creates a volume of one name only once, and returns the existing volume for a second create. So servers that start at the
 * same time get the same id. `docker volume prune` removes the volume while no container uses it, so the id is also stored as a label of
 * an image, from which the volume is created again.
 *
 * @throws AppError `failed_precondition` for a volume of this name without an id; the abort reason
 */
export async function engineId(docker: Docker, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  try {
    return await engineCall('The id of the Docker engine could not be read.', () => findOrCreate(docker, { abortSignal: signal }))
  } catch (err) {
    signal.throwIfAborted()
    throw err
  }
}

/** The id that an engine has, without giving it one. @throws AppError as `engineId` */
export function findEngineId(docker: Docker, signal: AbortSignal): Promise<string | undefined> {
  return engineCall('The id of the Docker engine could not be read.', async () => {
    return (await idOfVolume(docker, { abortSignal: signal })) ?? (await idOfImage(docker))
  })
}

interface CallOptions {
  readonly abortSignal: AbortSignal
}

async function findOrCreate(docker: Docker, options: CallOptions): Promise<string> {
  const found = await idOfVolume(docker, options)
  const backup = await idOfImage(docker)
  if (found !== undefined && found === backup) return found
  if (found === undefined) {
    const Labels = { [LABEL.role]: 'engine', [LABEL.engineId]: backup ?? randomId(32) }
    await docker.createVolume({ Name: ENGINE_VOLUME, Labels, ...options })
  }
  const id = found ?? (await idOfVolume(docker, options))
  if (id === undefined) throw new AppError('unavailable', `The volume "${ENGINE_VOLUME}" was removed while it was created.`)
  if (id !== backup) await writeImage(docker, id)
  return id
}

async function idOfVolume(docker: Docker, options: CallOptions): Promise<string | undefined> {
  const volume = await unlessStatus(404, () => docker.getVolume(ENGINE_VOLUME).inspect(options))
  if (volume === undefined) return undefined
  const id = volume.Labels?.[LABEL.engineId] ?? ''
  if (ID.test(id)) return id
  throw new AppError(
    'failed_precondition',
    `The volume "${ENGINE_VOLUME}" has no id of the engine in its labels: remove it and start again.`,
  )
}

async function idOfImage(docker: Docker): Promise<string | undefined> {
  const image = await unlessStatus(404, () => docker.getImage(ENGINE_IMAGE).inspect())
  const id = image?.Config.Labels?.[LABEL.engineId] ?? ''
  return ID.test(id) ? id : undefined
}

async function writeImage(docker: Docker, id: string): Promise<void> {
  const [repo, tag] = ENGINE_IMAGE.split(':')
  const changes = [`LABEL ${LABEL.role}=engine ${LABEL.engineId}=${id}`]
  await followAnswer(await docker.importImage(Readable.from([EMPTY_ARCHIVE]), { repo, tag, changes }))
}
