import type Docker from 'dockerode'
import { unlessStatus } from '../engine/docker-errors.ts'

/**
 * Removes an image that has no name. One with a name, with a container or with images that are built on it stays: a removal by id would take
 * the last name of an image away.
 */
export async function removeNameless(docker: Docker, id: string): Promise<void> {
  const image = docker.getImage(id)
  const found = await unlessStatus(404, () => image.inspect())
  if (found === undefined || [...(found.RepoTags ?? []), ...(found.RepoDigests ?? [])].length > 0) return
  await unlessStatus(404, () => unlessStatus(409, () => image.remove()))
}
