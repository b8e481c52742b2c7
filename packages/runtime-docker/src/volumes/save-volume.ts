import { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'
import { wholeTar } from '../archive/whole-tar.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { volumeNames } from '../labels.ts'
import { createDoor, DOOR_MOUNT } from './volume-door.ts'

/** All files of a volume as a tar archive, with owners, modes and links. @throws AppError `not_found`; the stream fails when it is not whole */
export async function saveVolume(docker: Docker, installation: string, name: string): Promise<Readable> {
  const container = `sandyard-volcopy-${randomId(16)}`
  const stream = await engineCall('The volume could not be read.', async () => {
    const { volume } = volumeNames(installation, name)
    if ((await unlessStatus(404, () => docker.getVolume(volume).inspect())) === undefined) {
      throw new AppError('not_found', `Volume "${name}" does not exist.`)
    }
    await createDoor(docker, installation, { name, container, role: 'volume-copy', readOnly: true })
    return docker.getContainer(container).getArchive({ path: `/${DOOR_MOUNT}` })
  })
  return Readable.from(readAndClose(docker, container, stream as Readable), { objectMode: false })
}

async function* readAndClose(docker: Docker, container: string, stream: Readable): AsyncGenerator<Buffer> {
  try {
    yield* wholeTar(stream, 'files')
  } finally {
    stream.destroy()
    // One that cannot be removed now is a leftover.
    await removeContainer(docker, container).catch(() => undefined)
  }
}
