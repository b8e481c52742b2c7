import type Docker from 'dockerode'
import { unlessStatus } from './docker-errors.ts'

/** Whether the engine has an image of this name or id. All failures except its absence are thrown. */
export async function imageExists(docker: Docker, image: string): Promise<boolean> {
  return (await unlessStatus(404, () => docker.getImage(image).inspect())) !== undefined
}
