import { createHash } from 'node:crypto'
import type Docker from 'dockerode'
import type { ImageInspectInfo } from 'dockerode'
import { packContext } from './build-context.ts'
import { followAnswer } from '../engine/follow-answer.ts'

export interface LoadedConfig {
  /** The image whose layers are used. */
  readonly layersOf: ImageInspectInfo
  readonly config: object
  /** Its name; nameless when absent. */
  readonly name?: string
}

/**
 * Makes an image of the layers of another one, with other settings, and returns its id. The engine reads only the settings: the archive
 * has no layers, because the engine has them. So the size of the image does not matter. The history of the layers is not kept.
 *
 * @throws for an engine that asks for the layers, as one with containerd's image store
 */
export async function loadConfig(docker: Docker, { layersOf, config, name }: LoadedConfig): Promise<string> {
  const { Architecture, Os, Created, RootFS } = layersOf
  const layers = RootFS.Layers ?? []
  const history = layers.map(() => ({ created: Created, created_by: 'sandyard' }))
  const image = { architecture: Architecture, os: Os, created: Created, config, rootfs: { type: 'layers', diff_ids: layers }, history }
  const bytes = Buffer.from(JSON.stringify(image))
  const hash = createHash('sha256').update(bytes).digest('hex')
  const RepoTags = name === undefined ? null : [name]
  const manifest = [{ Config: `${hash}.json`, RepoTags, Layers: layers.map((_, index) => `${index}/layer.tar`) }]
  const files = [
    { name: `${hash}.json`, bytes },
    { name: 'manifest.json', bytes: Buffer.from(JSON.stringify(manifest)) },
  ]
  await followAnswer(await docker.loadImage(packContext(files)))
  return `sha256:${hash}`
}
