import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import type { Container, ImageInspectInfo } from 'dockerode'
import { pack } from 'tar-stream'
import { removeContainer } from '../containers/remove-container.ts'
import { statusOf } from '../engine/docker-errors.ts'
import { LABEL } from '../labels.ts'
import { createIdle, flattenImage } from './flatten-image.ts'
import { tagImage } from './kept-images.ts'
import { loadConfig } from './load-config.ts'
import { removeNameless } from './remove-nameless.ts'

const MAX_VOLUMES = 100

export interface WithoutVolumes {
  readonly source: ImageInspectInfo
  /** The name that the image without volumes gets. */
  readonly name: string
  readonly installation: string
}

/** Whether containers of the image get volumes, whose files a snapshot would not have. */
export function hasVolumes(image: ImageInspectInfo): boolean {
  return volumesOf(image).length > 0
}

/**
 * Gives a name to an image with the same layers and settings, but without the volumes: what the image has at their paths stays, and an
 * absent path becomes an empty directory, as in a container. The cost does not depend on the size of the image, except on an engine that
 * does not accept settings without layers: there the image is flattened. The source is removed if it has no name any more.
 *
 * @throws AppError `failed_precondition` for an image with more than 100 volumes
 */
export async function nameWithoutVolumes(docker: Docker, { source, name, installation }: WithoutVolumes): Promise<void> {
  const volumes = volumesOf(source)
  if (volumes.length > MAX_VOLUMES) throw new AppError('failed_precondition', `The image has more than ${MAX_VOLUMES} volumes.`)
  const config = { ...source.Config, Volumes: null }
  const labels = { [LABEL.installation]: installation, [LABEL.role]: 'flatten' }
  const bare = await loadConfig(docker, { layersOf: source, config: { ...config, Labels: labels } }).catch((err: unknown) => {
    // The engine accepted the request and then reported a failure.
    if (err instanceof AppError || statusOf(err) !== undefined) throw err
    return undefined
  })
  if (bare === undefined) {
    await tagImage(docker, source.Id, name)
    return flattenImage(docker, { image: name, installation, labels: {} })
  }
  let whole = bare
  try {
    whole = await addDirectories(docker, { image: bare, paths: volumes, labels })
    await loadConfig(docker, { layersOf: await docker.getImage(whole).inspect(), config, name })
  } finally {
    // An image on which another one is built can be removed only after that one.
    for (const image of new Set([whole, bare])) await removeNameless(docker, image)
  }
  await removeNameless(docker, source.Id)
}

interface Directories {
  readonly image: string
  readonly paths: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** Returns an image in which all paths exist: the same one, or one with another layer. */
async function addDirectories(docker: Docker, { image, paths, labels }: Directories): Promise<string> {
  const container = await createIdle(docker, { Image: image, Labels: labels })
  try {
    const absent: string[] = []
    for (const path of paths) if (!(await exists(container, path))) absent.push(path)
    if (absent.length === 0) return image
    const archive = pack()
    for (const path of absent) archive.entry({ name: path.slice(1), type: 'directory', mode: 0o755 })
    archive.finalize()
    await container.putArchive(Readable.from(archive), { path: '/' })
    const { Id } = (await container.commit({ _query: { container: container.id, pause: false }, _body: { Labels: labels } })) as {
      Id: string
    }
    return Id
  } finally {
    await removeContainer(docker, container.id)
  }
}

async function exists(container: Container, path: string): Promise<boolean> {
  try {
    await container.infoArchive({ path })
    return true
  } catch (err) {
    // Other answers mean a path through a file: a directory cannot be made there.
    if (statusOf(err) === undefined) throw err
    return statusOf(err) !== 404
  }
}

/** The absolute paths; a container has no volume at others. */
function volumesOf({ Config }: ImageInspectInfo): string[] {
  const { Volumes: volumes } = Config as { readonly Volumes?: object | null }
  return Object.keys(volumes ?? {})
    .map((path) => posix.normalize(path).replace(/(?<=.)\/$/, ''))
    .filter((path) => path.startsWith('/') && path !== '/')
}
