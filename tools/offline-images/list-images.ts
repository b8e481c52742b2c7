import type Docker from 'dockerode'
import { findImage } from './find-image.ts'
import type { ImagesOptions } from './make-images.ts'
import { renderList } from './render-list.ts'

/** One line for each image: its name, its state on the engine, and what it is or would be made of. */
export async function listImages(docker: Docker, { standIns, authorities }: Omit<ImagesOptions, 'progress'>): Promise<string> {
  const found = standIns.map(async (standIn) => ({ standIn, state: (await findImage(docker, standIn, authorities)).state }))
  return renderList(await Promise.all(found))
}
