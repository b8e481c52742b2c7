import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import type { Container, ContainerCreateOptions } from 'dockerode'
import { removeContainer } from '../containers/remove-container.ts'
import { followAnswer } from '../engine/follow-answer.ts'
import { removeNameless } from './remove-nameless.ts'
import { LABEL } from '../labels.ts'

export interface FlattenRequest {
  readonly image: string
  readonly installation: string
  /** More labels of the new image. */
  readonly labels: Readonly<Record<string, string>>
}

/**
 * Flattens all layers of an image into one, with the same name and settings, but without volumes. Until the end the name refers to the
 * original image. Whatever a process that dies here leaves behind has labels, so the sweep removes it.
 */
export async function flattenImage(docker: Docker, { image, installation, labels: added }: FlattenRequest): Promise<void> {
  const { Id, Config } = await docker.getImage(image).inspect()
  const labels = { [LABEL.installation]: installation, [LABEL.role]: 'flatten' }
  const files = await importFiles(docker, await createIdle(docker, { Image: Id, Labels: labels }), labels)
  // A commit keeps settings byte by byte; the engine's import needs them in the syntax of Dockerfiles.
  const settings = { ...Config, Image: files, Volumes: {}, Hostname: '', Labels: { ...Config.Labels, [LABEL.role]: 'flatten' } }
  const empty = await createIdle(docker, settings)
  try {
    const [repo, tag] = image.split(':')
    await empty.commit({ _query: { container: empty.id, repo, tag, pause: false }, _body: { Labels: { ...Config.Labels, ...added } } })
  } finally {
    await removeContainer(docker, empty.id)
  }
  await removeNameless(docker, Id)
}

/** Imports all files of a container as an image of one layer and returns its id. The container is removed. */
async function importFiles(docker: Docker, container: Container, labels: Readonly<Record<string, string>>): Promise<string> {
  try {
    const changes = Object.entries(labels).map(([name, value]) => `LABEL ${name}=${value}`)
    const answer = await docker.importImage(await container.export(), { changes })
    let id = ''
    await followAnswer(answer, ({ status = '' }) => {
      if (status.startsWith('sha256:')) id = status
    })
    return id
  } finally {
    await removeContainer(docker, container.id)
  }
}

/** Creates a container that is never started. */
export function createIdle(docker: Docker, options: ContainerCreateOptions): Promise<Container> {
  return docker.createContainer({
    ...options,
    name: `sandyard-flatten-${randomId(16)}`,
    Entrypoint: [],
    Cmd: ['-'],
    NetworkDisabled: true,
  })
}
