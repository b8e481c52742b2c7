import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { imageExists } from './image-exists.ts'

/** An image without files, for containers that are created and never started: they give access to a volume. */
export const EMPTY_IMAGE = 'sandyard/empty:1'

/** A tar archive without entries is two blocks of zeros. */
export const EMPTY_ARCHIVE = Buffer.alloc(1024)

export async function ensureEmptyImage(docker: Docker): Promise<void> {
  if (await imageExists(docker, EMPTY_IMAGE)) return
  const [repo, tag] = EMPTY_IMAGE.split(':')
  const answer = await docker.importImage(Readable.from([EMPTY_ARCHIVE]), { repo, tag, changes: ['LABEL sandyard.role=empty'] })
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(answer, (err) => (err === null ? resolve() : reject(err)))
  })
}
