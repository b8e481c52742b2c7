import { ok, warn, type Check, type Finding } from '../check.ts'
import { listOwnImages, requireInstallation } from '../facts/own-images.ts'

const MANY_LAYERS = 100
const MAX_IMAGES = 1000

export const imageDepth: Check = {
  id: 'S5',
  title: 'Image depth',
  checks: 'layers of our images: 100 and more warn',
  why: 'The storage driver stops at about 125 layers: a sandbox of such an image starts, but cannot be built upon or kept as a snapshot.',
  todo: 'Build the template again from a newer base: a snapshot is flattened at 100 layers, a template that is built from another one is not.',
  async run(facts): Promise<Finding> {
    const own = (await listOwnImages(facts, await requireInstallation(facts))).slice(0, MAX_IMAGES)
    const deep: string[] = []
    let deepest = 0
    for (const { name } of own) {
      const layers = await facts.engine.read('the layers of an image', async (docker) => {
        return (await docker.getImage(name).inspect()).RootFS.Layers?.length ?? 0
      })
      deepest = Math.max(deepest, layers)
      if (layers >= MANY_LAYERS) deep.push(`${name} (${layers})`)
    }
    return deep.length === 0 ? ok(`${own.length} images, ${deepest} layers at most`) : warn(`many layers: ${deep.slice(0, 10).join(', ')}`)
  },
}
