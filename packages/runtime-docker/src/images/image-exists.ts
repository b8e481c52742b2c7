import type Docker from 'dockerode'

/** Whether the engine has an image of this name or id. All failures except its absence are thrown. */
export async function imageExists(docker: Docker, image: string): Promise<boolean> {
  try {
    await docker.getImage(image).inspect()
    return true
  } catch (err) {
    if ((err as { statusCode?: number }).statusCode === 404) return false
    throw err
  }
}
