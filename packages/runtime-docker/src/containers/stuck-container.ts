import { AppError } from '@sandyard/kit/errors/app-error'
import type { ImageRef } from '@sandyard/runtime/types'
import type Docker from 'dockerode'
import type { Container, ContainerCreateOptions, ContainerInfo } from 'dockerode'
import { statusOf, unlessStatus } from '../engine/docker-errors.ts'
import { tagImage } from '../images/kept-images.ts'
import { LABEL, removedImage } from '../labels.ts'
import { commitFiles } from '../snapshots/commit-files.ts'
import { createContainer } from './create-container.ts'
import { removeContainer } from './remove-container.ts'

export interface Replacement {
  readonly installation: string
  /** The container of the sandbox with these files. */
  readonly optionsFor: (image: ImageRef) => ContainerCreateOptions
}

/** The engine's refusals of a start whose former one was interrupted: containerd has a task under the id of the container that nobody can delete. */
const STUCK = /\btask \S+ already exists|\bid already in use|container with given ID already exists/

const STUCK_SUFFIX = '-stuck'

/** The name of a container while another one takes its place. */
export function stuckName(name: string): string {
  return `${name}${STUCK_SUFFIX}`
}

/** Whether an engine that died in the middle of a start refuses every further start of this container. Its files can be read, and it can be removed. */
export function isStuck(err: unknown): boolean {
  return statusOf(err) === 500 && STUCK.test((err as Error).message)
}

/**
 * Puts another container in the place of one that does not start any more: with its files, its name, and an id of its own, by which containerd
 * knows it. The files are stored as an image, which is removed after the container.
 *
 * If this process dies here, the sandbox has a container under one of two names (`withRenamed`), under both (`findReplaced`), or an image without a
 * name that the sweep removes after a day.
 */
export async function replaceStuck(docker: Docker, name: string, { installation, optionsFor }: Replacement): Promise<Container> {
  const found = await docker.getContainer(name).inspect()
  // With the role of unfinished images the sweep lets it be until the container uses it.
  const image = await commitFiles(docker, found, { installation, labels: { [LABEL.role]: 'flatten' } })
  // Of a replacement that was interrupted: the container under the name has all files.
  await removeContainer(docker, stuckName(name))
  await docker.getContainer(found.Id).rename({ name: stuckName(name) })
  const made = await createContainer(docker, { name, options: optionsFor(image) })
  if (made === undefined) throw new AppError('conflict', 'The sandbox is being resumed by another server.')
  await tagImage(docker, image, removedImage(installation, image))
  // `findReplaced` finds it if it cannot be removed now.
  await removeContainer(docker, found.Id).catch(() => undefined)
  return made
}

/** Runs a change of a container. If only its name of a replacement is left, it gets its own one back, and the change is made then. */
export async function withRenamed<T>(docker: Docker, name: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (err) {
    if (statusOf(err) !== 404 || !(await takeBack(docker, name))) throw err
    return change()
  }
}

/** Containers of sandboxes, among `containers`, whose place another one has taken. */
export async function findReplaced(docker: Docker, containers: readonly ContainerInfo[]): Promise<ContainerInfo[]> {
  const stuck = containers.flatMap((container) => {
    const name = replacedName(container.Names)
    return name === undefined || container.Labels[LABEL.role] !== 'sandbox' ? [] : [{ container, name }]
  })
  const found = await Promise.all(stuck.map(({ name }) => unlessStatus(404, () => docker.getContainer(name.slice(1)).inspect())))
  return stuck.flatMap(({ container }, index) => (found[index] === undefined ? [] : [container]))
}

/** Whether another container has taken the place of the one with these names. `all` are the names in a list of the engine. */
export function isReplaced(names: readonly string[], all: ReadonlySet<string>): boolean {
  const name = replacedName(names)
  return name !== undefined && all.has(name)
}

/** Names in a list of the engine begin with a slash. */
function replacedName(names: readonly string[]): string | undefined {
  return names.find((name) => name.endsWith(STUCK_SUFFIX))?.slice(0, -STUCK_SUFFIX.length)
}

async function takeBack(docker: Docker, name: string): Promise<boolean> {
  const renamed = unlessStatus(404, async () => {
    await docker.getContainer(stuckName(name)).rename({ name })
    return true
  })
  return (await renamed) ?? false
}
